#!/usr/bin/env python3
"""Writes the small corpora under configs/samples: sentences put together from words of a few fields, so that specs which
take a corpus run without one; byte pairs of the Korean one; a token table in the layout of GPT-2's. The same bytes on
every machine.

    tools/dev/make_samples.py [FOLDER]
"""
import collections
import json
import random
import struct
import sys
from pathlib import Path

KOREAN = [  # things, what is done with them, what they are like
    ("물리학 이론 입자 에너지 실험 법칙 양자 중력 관측 가설 원자 파동 질량 속도",
     "설명한다 증명한다 측정한다 계산한다 예측한다 발견한다", "정확한 새로운 수학적인 복잡한"),
    ("음악 노래 악기 연주 작곡 소리 무대 가수 악보 선율 합창 공연 피아노 관객",
     "부른다 연주한다 듣는다 작곡한다 녹음한다 감상한다", "아름다운 조용한 경쾌한 슬픈"),
    ("조선 임금 고려 세종 한양 신하 궁궐 왕조 양반 백성 세자 제도 사신 실록",
     "다스린다 세운다 기록한다 섬긴다 개혁한다 물려받는다", "오래된 엄격한 유교적인 찬란한"),
    ("전쟁 군대 전투 병사 장군 무기 적군 요새 항복 침략 진영 보급 동맹 국경",
     "공격한다 방어한다 점령한다 격파한다 지휘한다 포위한다", "치열한 강력한 위험한 거대한"),
    ("서울특별시 도시 한강 시민 거리 지하철 광장 시장 건물 공원 교통 주민 도로 구청",
     "건설한다 방문한다 운영한다 개발한다 연결한다 관리한다", "넓은 복잡한 현대적인 붐비는"),
    ("바다 배 선원 항구 파도 어부 섬 등대 고래 항해 바람 그물 해안 물고기",
     "떠난다 건넌다 잡는다 바라본다 항해한다 기다린다", "깊은 푸른 거친 먼"),
    ("요리 부엌 밥 국 김치 양념 냄비 반찬 식당 재료 맛 요리사 고기 채소",
     "끓인다 볶는다 먹는다 썬다 맛본다 차린다", "맛있는 매운 따뜻한 신선한"),
]
KOREAN_PATTERNS = ["{a}은 {b}의 {c}을 {v}", "{j} {a}이 {b}을 {v}", "{a}과 {b}을 {v}", "{a}에서 {j} {b}을 {v}",
                   "{a}의 {b}은 {j} {c}을 {v}", "{a}도 {b}도 {c}을 {v}", "{a}으로 {b}을 {v}", "{j} {a}은 {b}에서 {c}을 {v}"]
# After a vowel another form of the particle stands (and 로 after ㄹ as well).
AFTER_VOWEL = {"은": "는", "이": "가", "을": "를", "과": "와", "으로": "로"}

# For language models: everyday sentences with more words, and endings that a byte-pair vocabulary can learn.
PEOPLE = ("어머니 아버지 할머니 할아버지 누나 형 동생 아이 소년 소녀 이웃 친구 선생 의사 농부 어부 상인 목수 나그네 학생 주인 손님 "
          "간호사 군인 화가 시인 사공 며느리 아저씨 아주머니").split()
PLACES = ("마을 시장 학교 병원 부엌 마당 골목 언덕 들판 강가 바닷가 항구 섬 산길 숲 다리 우물 정거장 가게 논 밭 뒷산 안방 대문 창가 "
          "책방 공원 나루 절 서울").split()
THINGS = ("배 밥 국 떡 책 편지 사진 가방 우산 신발 모자 그릇 숟가락 촛불 등불 나무 꽃 열매 사과 감자 고구마 생선 조개 그물 수레 "
          "지게 호미 바구니 보자기 이불 거울 빗자루 항아리 시계 연필 그림 노래 이야기 소식 약속").split()
TIMES = "아침 저녁 새벽 한낮 오후 밤 어제 오늘 봄날 여름밤 가을날 겨울밤 이튿날 보름날 장날 명절 그때 이따금 날마다 마침내".split()
KINDS = ("작은 커다란 낡은 새로운 따뜻한 차가운 조용한 반가운 그리운 무거운 가벼운 붉은 푸른 하얀 검은 귀한 흔한 이상한 고운 "
         "젖은 마른 향기로운 달콤한 쓸쓸한 아름다운").split()
HOW = "천천히 서둘러 몰래 가만히 다시 오래 함께 혼자 기쁘게 슬프게 조심스레 말없이 한참 자꾸 먼저 겨우 문득 열심히".split()
DEEDS = ("가져오 내려놓 건네주 바라보 찾아내 들여다보 숨기 나르 고치 씻 닦 묶 풀 심 줍 팔 사 빌리 돌려주 기다리 부르 그리 읽 쓰 "
         "만들 버리 담 꺼내 안 잃어버리 기억하 자랑하 아끼 나누 준비하").split()
ENDINGS = "고 있었다|기 시작했다|려고 했다|지 않았다|고 싶어 했다|자고 말했다|는 것을 보았다|기로 마음먹었다|고 돌아왔다|지 못했다".split("|")
FAMILIES = "김 이 박 최 정 강 조 윤 장 임 한 오 서 신 권 황 안 송".split()
SYLLABLES = "민 서 준 지 현 수 영 호 진 은 혜 정 선 경 미 동 철 순 옥 희 태 성 원 주 연 하 기 석 봉 덕".split()
STORY_PATTERNS = ["{t} {p}은 {l}에서 {k} {o}을 {d}", "{p}이 {k} {o}을 {h} {d}", "{k} {o}이 {l}에 있었다", "{p}과 {q}은 {l}으로 갔다",
                  "{t}이면 {p}은 {o}을 {d}", "{p}의 {o}은 {k} 것이었다", "{q}은 {p}에게 {o}을 {d}", "{l}의 {p}도 {o}도 {k} 빛이었다",
                  "{p}이 {h} {l}을 떠났다", "{t} {l}에 {k} 눈이 내렸다", "{n}은 {l}의 {p}이었다", "{n}이 {m}에게 {k} {o}을 {d}",
                  "{n}과 {m}은 {t} {l}에서 만났다", "{m}의 {o}을 {n}이 {h} {d}"]

ENGLISH = [
    ("king queen prince princess crown palace throne court kingdom duke", "rules crowns obeys honours", "royal proud noble"),
    ("man woman boy girl father mother son daughter husband wife", "loves helps meets raises", "young old kind"),
    ("ship sea sailor harbour wave captain island storm lighthouse whale", "crosses leaves sails watches", "deep distant wild"),
    ("music song singer piano melody concert violin audience choir stage", "plays sings hears records", "quiet lively sad"),
    ("atom energy theory particle experiment law mass wave force light", "measures explains proves predicts", "new exact strange"),
    ("bread soup kitchen cook pepper dinner table salt knife market", "cooks tastes cuts serves", "warm fresh spicy"),
]
ENGLISH_PATTERNS = ["the {a} {v} the {j} {b}", "a {j} {a} {v} the {b} with the {c}", "the {a} and the {b} are {j}",
                    "every {a} {v} a {b}", "the {b} of the {a} is {j}", "near the {a} the {j} {b} {v} the {c}"]


def with_particles(sentence):
    """물리학은, 노래는: the particles by the last sound of the word before."""
    words = []
    for word in sentence.split():
        for closed, open_form in AFTER_VOWEL.items():
            stem = word.removesuffix(closed)
            if stem == word or not stem:
                continue
            final = (ord(stem[-1]) - 0xAC00) % 28
            if final == 0 or (closed == "으로" and final == 8):
                word = stem + open_form
            break
        words.append(word)
    return " ".join(words)


def corpus(fields, patterns, finish, lines, seed):
    draw = random.Random(seed)
    text = []
    for _ in range(lines):
        things, deeds, kinds = (words.split() for words in draw.choice(fields))
        sentences = []
        for _ in range(draw.randint(2, 5)):
            a, b, c = draw.sample(things, 3)
            sentences.append(finish(draw.choice(patterns).format(a=a, b=b, c=c, v=draw.choice(deeds), j=draw.choice(kinds))))
        text.append(" ".join(sentences) + "\n")
    return "".join(text)


def stories(lines, seed):
    """Sentences of people, places and things, with verbs in many forms."""
    draw = random.Random(seed)
    names = [draw.choice(FAMILIES) + "".join(draw.sample(SYLLABLES, 2)) for _ in range(260)]
    text = []
    for _ in range(lines):
        sentences = []
        for _ in range(draw.randint(2, 5)):
            p, q = draw.sample(PEOPLE, 2)
            n, m = draw.sample(names, 2)
            words = {"p": p, "q": q, "n": n, "m": m, "l": draw.choice(PLACES), "o": draw.choice(THINGS), "t": draw.choice(TIMES),
                     "k": draw.choice(KINDS), "h": draw.choice(HOW), "d": draw.choice(DEEDS) + draw.choice(ENDINGS)}
            sentences.append(with_particles(draw.choice(STORY_PATTERNS).format(**words)) + ".")
        text.append(" ".join(sentences) + "\n")
    return "".join(text)


def byte_alphabet():
    """GPT-2's: bytes that are printable in Latin-1 as themselves, the others from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(0x100 + i) for i, byte in enumerate(hidden)}


def byte_pairs(text, merges):
    """Byte-pair encoding of words with the space before them: GPT-2's two files, as texts."""
    alphabet = byte_alphabet()
    counts = collections.Counter(" " + word for word in text.split())
    words = {tuple(alphabet[byte] for byte in word.encode()): count for word, count in counts.items()}
    pieces, pairs = sorted(alphabet.values()), []
    for _ in range(merges):
        seen = collections.Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                seen[pair] += count
        best = min(seen, key=lambda pair: (-seen[pair], pair))
        pairs.append(best)
        pieces.append("".join(best))
        words = {merged(word, best): count for word, count in words.items()}
    encoder = json.dumps({piece: i for i, piece in enumerate(pieces)}, ensure_ascii=False, indent=0)
    return encoder + "\n", "#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in pairs)


def merged(word, pair):
    out = []
    for piece in word:
        if out and (out[-1], piece) == pair:
            out[-1] += piece
        else:
            out.append(piece)
    return tuple(out)


MEANINGS = {  # words of the table in GPT-2's layout, by what they share
    "king": "male royal", "queen": "female royal", "man": "male person", "woman": "female person", "boy": "male child",
    "girl": "female child", "uncle": "male kin", "aunt": "female kin", "Paris": "city french", "France": "land french",
    "Seoul": "city korean", "Korea": "land korean", "Tokyo": "city japanese", "Japan": "land japanese",
    "big": "size large", "bigger": "size large more", "small": "size little", "smaller": "size little more",
    "fast": "speed high", "faster": "speed high more", "the": "word", "of": "word and", "kings": "male royal many",
    "queens": "female royal many",
}


def token_table(width, seed):
    """Rows of a token table that are sums of their meanings' directions and some noise."""
    draw = random.Random(seed)
    directions = {}
    rows = []
    for meanings in MEANINGS.values():
        row = [draw.gauss(0, 0.15) for _ in range(width)]
        for meaning in meanings.split():
            direction = directions.setdefault(meaning, [draw.gauss(0, 1) for _ in range(width)])
            row = [a + b for a, b in zip(row, direction)]
        rows.append(row)
    return rows


def safetensors(tensors):
    header, data = {}, b""
    for name, rows in tensors.items():
        flat = [number for row in rows for number in row]
        begin = len(data)
        data += struct.pack(f"<{len(flat)}f", *flat)
        header[name] = {"dtype": "F32", "shape": [len(rows), len(rows[0])], "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "configs/samples")
    folder.mkdir(parents=True, exist_ok=True)
    korean = corpus(KOREAN, KOREAN_PATTERNS, lambda s: with_particles(s) + ".", 1200, 1)
    english = corpus(ENGLISH, ENGLISH_PATTERNS, lambda s: s[0].upper() + s[1:] + ".", 1200, 2)
    (folder / "ko_small.txt").write_text(korean, encoding="utf-8")
    (folder / "ko_stories.txt").write_text(stories(1800, 4), encoding="utf-8")
    (folder / "en_small.txt").write_text(english, encoding="utf-8")
    table = safetensors({"wte.weight": token_table(32, 3), "wpe.weight": [[0.0] * 32] * 4})
    (folder / "gpt2_layout.safetensors").write_bytes(table)
    words = {"\u0120" + word: row for row, word in enumerate(MEANINGS)}
    (folder / "gpt2_layout.encoder.json").write_text(json.dumps(words, indent=0) + "\n", encoding="utf-8")
    encoder, merges = byte_pairs(korean, 600)
    (folder / "ko_small.encoder.json").write_text(encoder, encoding="utf-8")
    (folder / "ko_small.vocab.bpe").write_text(merges, encoding="utf-8")


if __name__ == "__main__":
    main()
