#!/usr/bin/env python3
"""Makes tests/golden/text.json: what Python says of texts, to compare ours with.

    tests/golden/make_text.py DATA > tests/golden/text.json

DATA: the folder with kowiki.txt.gz. Made with Python 3.11, unicodedata 14.0.0.
"""
import collections
import gzip
import json
import random
import sys
import unicodedata

ENDINGS = ("에서는 으로는 에게는 하였다 되었다 입니다 에서 에게 으로 이며 이다 였다 한다 하고 에는 에도 까지 부터 보다 처럼 "
           "은 는 이 가 을 를 의 에 로 과 와 도 만").split()
MARKS = "\"'()[].,·;:!?«»“”‘’"
WORDS = ("서울특별시에서는 학교에서는 사람으로는 친구에게는 사용하였다 시작되었다 학생입니다 도시에서 나에게 손으로 이것이며 "
         "사람이다 하였다 공부한다 공부하고 집에는 집에도 서울까지 서울부터 나보다 그처럼 사람은 나는 사람이 나무가 책을 나무를 "
         "나라의 집에 학교로 사과 사과와 나무도 이만 은 는이 에서 에서는 이에서는 고양이 바다로부터 물리학 《물리학》은 (음악)을 "
         "\"조선\"의 전쟁. ... «도시»에서 it's the Seoul은 2020년에는 a에 ab에 한국어를, ‘사랑’과 “우정”도 ·가운뎃점· 1948년").split()


def stem(word):
    word = word.strip(MARKS)
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return word[:-len(ending)]
    return word


def random_texts(count):
    """Marks after letters, jamo, compatibility characters, composition exclusions: where normal forms differ."""
    draw = random.Random(7)
    pools = [range(0x20, 0x7F), range(0xC0, 0x250), range(0x300, 0x370), range(0x1100, 0x1200), range(0xAC00, 0xD7A4),
             range(0x900, 0xA00), range(0x1E00, 0x2000), range(0xF900, 0xFB50), range(0x1D15E, 0x1D165), range(0x2F800, 0x2FA1E),
             range(0x3041, 0x30FF), range(0xA0, 0xC0), range(0x2100, 0x2140), range(0x110000)]
    texts = []
    while len(texts) < count:
        text = ""
        for _ in range(draw.randint(1, 12)):
            c = chr(draw.choice(draw.choice(pools)))
            if unicodedata.category(c) not in ("Cn", "Cs", "Co"):
                text += c
        if text:
            texts.append(text)
    return texts


def kowiki(folder):
    with gzip.open(folder + "/kowiki.txt.gz", "rt", encoding="utf-8") as file:
        raw = file.read().split()
    words = [word for word in map(stem, raw) if word]
    counts = collections.Counter(words)
    vocabulary = [pair for pair in counts.most_common(10000) if pair[1] >= 5]
    known = dict(vocabulary)
    return {"split": len(raw), "split_distinct": len(set(raw)), "words": len(words), "distinct": len(counts),
            "vocabulary": len(vocabulary), "tokens": sum(word in known for word in words),
            "first": vocabulary[:50], "last": vocabulary[-50:]}


GOLDEN = {"made_by": "tests/golden/make_text.py",
          "nfc": [[text, unicodedata.normalize("NFC", text)] for text in random_texts(600)],
          "stems": [[word, stem(word)] for word in WORDS],
          **{"kowiki_" + name: value for name, value in kowiki(sys.argv[1]).items()}}


def lines(value):
    """JSON, a pair a line."""
    return "[\n" + ",\n".join(map(json.dumps, value)) + "]" if isinstance(value, list) else json.dumps(value)


print("{" + ",\n".join(f"{json.dumps(name)}: {lines(value)}" for name, value in GOLDEN.items()) + "}")
