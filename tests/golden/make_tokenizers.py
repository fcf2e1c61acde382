#!/usr/bin/env python3
"""Makes tests/golden/tokenizers/: what Hugging Face's tokenizers and SentencePiece say, to compare ours with.

    tests/golden/make_tokenizers.py

Trains both on a text that it makes up, and encodes others. Made with tokenizers 0.23.3 and sentencepiece 0.2.3.
"""
import io
import json
import random
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

FOLDER = Path(__file__).parent / "tokenizers"
STEMS = "학교 음악 나무 바다 사람 구름 소나무 고양이 물리학 banana bandana cabana the then there 2024 12 ab abab aaaa".split()
ENDINGS = "은 는 이 가 을 를 에서 에서는 에게 으로 하였다 입니다 s ed ing".split() + [""] * 6
MARKS = ["", "", "", "", ".", ",", "!", "?", "..."]


def text(draw, lines):
    """Sentences; some spaces are two, some lines are empty or begin with a space."""
    made = []
    for _ in range(lines):
        words = [draw.choice(STEMS) + draw.choice(ENDINGS) + draw.choice(MARKS) for _ in range(draw.randint(0, 9))]
        line = "".join(word + draw.choice([" ", " ", " ", " ", "  ", "\t", "\u3000"]) for word in words).rstrip()
        made.append(draw.choice(["", "", "", " "]) + line)
    return "\n".join(made) + "\n"


def samples(draw):
    pools = [range(0x20, 0x7F), range(0xAC00, 0xD7A4), range(0x1100, 0x1200), range(0x300, 0x370), [0x20], [0x20], [0x0A],
             [0x2581], [0xE581], range(0xFF01, 0xFF5F), range(0x1F600, 0x1F650), [0x09, 0xA0, 0x3000, 0xFB01, 0x130]]
    made = ["", " ", "\n", "  ", "\n\n", " \n ", "학교에서는 음악을 the bananas.", "▁", " ▁ ", "\ue581\ue5811", "가각 é é",
            "학교<x>에서 <y> 는<x>", "abab<y>  ab", "the  bandana", "쀍 없는 글자", "한 줄\n두 줄\n\n 세 줄\n"]
    while len(made) < 150:
        parts = [draw.choice(STEMS) if draw.random() < 0.4 else chr(draw.choice(draw.choice(pools)))
                 for _ in range(draw.randint(1, 14))]
        made.append("".join(parts))
    return made


def trained(normalizer, pre_tokenizer, corpus, size, special=(), alphabet=(), **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), initial_alphabet=list(alphabet), show_progress=False)
    tokenizer.train_from_iterator([corpus], trainer)
    return tokenizer


def pairs(tokenizer):
    model = json.loads(tokenizer.to_str())["model"]
    return {"pieces": sorted(model["vocab"], key=model["vocab"].get), "merges": model["merges"]}


def trainings(corpus):
    """Vocabulary and merges where jari's steps are the same."""
    steps = normalizers.Sequence([
        normalizers.NFC(), normalizers.Prepend("▁"), normalizers.Replace(Regex("\\n(?=[^\\n])"), "\n▁"), normalizers.Replace(" ", "▁")])
    words = pre_tokenizers.Split(Regex("[▁\\s]"), "merged_with_next")
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return {"word_start": pairs(trained(steps, words, corpus, 500, special=["<pad>"] + fallback)),
            "bytes": pairs(trained(normalizers.NFC(), gpt2, corpus, 400, special=["<pad>", "<eos>"],
                                   alphabet=pre_tokenizers.ByteLevel.alphabet()))}


def files(corpus):
    """Files with the steps that jari knows: {name: Tokenizer}."""
    metaspace = trained(normalizers.NFKC(), pre_tokenizers.Metaspace(), corpus, 200, special=["<unk>"], unk_token="<unk>")
    metaspace.decoder = decoders.Metaspace()
    metaspace.add_special_tokens([AddedToken("<x>", rstrip=True), AddedToken("<y>", lstrip=True)])
    fused = trained(normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]),
                    pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")]),
                    corpus, 150, special=["<unk>"], unk_token="<unk>", fuse_unk=True)
    fused.decoder = decoders.Metaspace(prepend_scheme="first")
    fused.add_tokens([AddedToken("<x>", normalized=True)])
    unsplit = trained(normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None, corpus[:600], 400,
                      special=["<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)], unk_token="<unk>", byte_fallback=True)
    unsplit.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    level = trained(None, pre_tokenizers.ByteLevel(add_prefix_space=True), corpus, 330, alphabet=pre_tokenizers.ByteLevel.alphabet())
    level.decoder = decoders.ByteLevel()
    level.add_special_tokens(["<x>", "<|끝|>"])
    return {"metaspace": metaspace, "fused": fused, "unsplit": unsplit, "byte_level": level}


def sentence_piece(corpus, kind, size):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus.splitlines()), model_writer=model, model_type=kind,
                                             vocab_size=size, byte_fallback=kind == "bpe", normalization_rule_name="identity", minloglevel=2)
    return model.getvalue()


def main():
    draw = random.Random(11)
    corpus = text(draw, 300)
    texts = samples(draw)
    golden = {"corpus": corpus, "trained": trainings(corpus), "texts": texts, "files": {}, "sentence_piece": {}}
    for name, tokenizer in files(corpus).items():
        tokenizer.save(str(FOLDER / f"{name}.json"), pretty=False)
        encoded = [tokenizer.encode(sample, add_special_tokens=False).ids for sample in texts]
        golden["files"][name] = {"ids": encoded, "decoded": [tokenizer.decode(ids, skip_special_tokens=False) for ids in encoded]}
    for kind, size in (("bpe", 380), ("unigram", 120)):
        model = sentence_piece(corpus, kind, size)
        (FOLDER / f"{kind}.model").write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        encoded = [processor.encode(sample) for sample in texts]
        golden["sentence_piece"][kind] = {"ids": encoded, "decoded": [processor.decode(ids) for ids in encoded]}
    (FOLDER / "golden.json").write_text(json.dumps(golden, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
