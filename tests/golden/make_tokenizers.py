#!/usr/bin/env python3
"""Makes tests/golden/tokenizers/: what Hugging Face's tokenizers and SentencePiece say, to compare ours with.

    tests/golden/make_tokenizers.py

Trains both on a text that it makes up, and encodes others. Made with tokenizers 0.23.3 and sentencepiece 0.2.3.
"""
import io
import json
import random
import tempfile
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
            "학교<x>에서 <y> 는<x>", "abab<y>  ab", "the  bandana", "쀍 없는 글자", "한 줄\n두 줄\n\n 세 줄\n", "Café THERE, Ångström's naïve—“then”... don't!", "中文 and 漢字は日本語",
            "a\u0000b\u200bc\u0007d\ufffde\x0bf", "then  the   there    .", "  ab  ", "ﬁve ①② ㎏ Ａｂ", "e\u0301a\u0301\u0323 y\u0301y ☕\ufe0f",
            "the<Z>and<z>The", "쀍쀍<unk>쀍the", "y" * 60 + " " + "ab" * 60, "i do n't , we 've ( 12 % )",
            "I'LL it'ſ 1234567.\r\n\r\n \t\n  the\t\tthen \u3000바다!?\n\n ①②③④ 'RE\n"]
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


def message_field(message, number):
    """The bytes of a field of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value, shift, at = value | (message[at] & 127) << shift, shift + 7, at + 1
            if message[at - 1] < 128:
                return value
    while True:
        tag = varint()
        size = {0: lambda: 0, 1: lambda: 8, 2: varint, 5: lambda: 4}[tag & 7]()
        if tag & 7 == 0:
            varint()
        if tag == number << 3 | 2:
            return message[at:at + size]
        at += size


def charsmap(rules):
    """SentencePiece's compiled rules: {text: text}."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        for source, target in rules.items():
            file.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
        file.flush()
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a b c"] * 9), model_writer=model, vocab_size=7, hard_vocab_limit=False,
                                                 normalization_rule_tsv=file.name, minloglevel=2)
    return message_field(message_field(model.getvalue(), 3), 2)  # its normalizer_spec's precompiled_charsmap


def unigrams(corpus):
    """As files that were SentencePiece's models are, of T5 and of Llama's kind."""
    rules = {"ﬁ": "fi", "Ａ": "A", "㎏": "kg", "①": "1", "é": "e", "e\u0301": "e", "\u200b": "", "\t": " ", "\u3000": " ", "\x0b": " ",
             "～": "~", "y": "a", "y\u0301": "b"}
    trainer = trainers.UnigramTrainer(vocab_size=160, special_tokens=["<pad>", "<unk>"], unk_token="<unk>", show_progress=False)
    split = Tokenizer(models.Unigram())
    split.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap(rules)), normalizers.Strip(left=False, right=True),
                                             normalizers.Replace(Regex(" {2,}"), "▁")])
    split.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    split.decoder = decoders.Metaspace()
    split.train_from_iterator(corpus.splitlines(), trainer)
    split.add_tokens([AddedToken("<Z>", normalized=True)])
    scores = [tuple(entry) for entry in json.loads(split.to_str())["model"]["vocab"]]
    fallback = Tokenizer(models.Unigram(scores[:1] + [(f"<0x{byte:02X}>", 0.0) for byte in range(256)] + scores[1:], 257, True))
    fallback.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    fallback.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    fallback.add_special_tokens(["<x>"])
    return {"unigram": split, "unigram_fallback": fallback}


def word_pieces(corpus):
    """BERT's, uncased and cased."""
    made = {}
    for name, lower in (("word_piece", True), ("word_piece_cased", False)):
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100 if lower else 50))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower, strip_accents=None if lower else True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece(cleanup=lower)
        trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]"], show_progress=False)
        tokenizer.train_from_iterator([corpus, "中 漢 字 ' “ ” — ( ) % i do n't we 've", corpus.upper()], trainer)
        tokenizer.add_special_tokens(["<x>"])
        tokenizer.add_tokens([AddedToken("<Z>", normalized=True)])
        made[name] = tokenizer
    return made


def byte_levels(corpus):
    """As Llama 3's and Qwen's files are."""
    made = {}
    for name, digits, normalizer in (("llama3", "{1,3}", None), ("qwen", "", normalizers.NFC())):
        pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + digits +
                   r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
        steps = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
        made[name] = trained(normalizer, steps, corpus, 330, alphabet=pre_tokenizers.ByteLevel.alphabet())
        made[name].decoder = decoders.ByteLevel()
    file = json.loads(made["llama3"].to_str())
    file["model"]["ignore_merges"] = True
    file["model"]["merges"].pop(5)
    return {"llama3": Tokenizer.from_str(json.dumps(file)), "qwen": made["qwen"]}


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
    return {"metaspace": metaspace, "fused": fused, "unsplit": unsplit, "byte_level": level, **unigrams(corpus), **word_pieces(corpus),
            **byte_levels(corpus)}


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
