#!/usr/bin/env python3
"""Makes tests/golden/glove_gensim.json and tests/golden/tables/* with other people's programs.

    pip install gensim safetensors numpy
    tests/golden/make_tables.py FOLDER_OF_DATA

gensim gives the numbers of the GloVe table (most_similar, similarity, evaluate_word_pairs, evaluate_word_analogies) and
the word2vec files; NumPy the .npy and .npz files; safetensors its own.
"""
import json
import sys
from pathlib import Path

import gensim
import numpy as np
import safetensors
from gensim.models import KeyedVectors
from safetensors.numpy import save_file

HERE = Path(__file__).resolve().parent
TABLES = HERE / "tables"
WORDS = ["자리", "the", "물리학", "a", "café"]
COUNTS = [50, 40, 30, 20, 10]
VALUES = np.array([[0.5, -1.25, 3.0, 1e-3], [1 / 3, 2 / 3, -0.1, 7], [-0.0, 1e-20, 12345.678, -2],
                   [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4]], dtype="f4")


def small_tables():
    TABLES.mkdir(exist_ok=True)
    vectors = KeyedVectors(4)
    vectors.add_vectors(WORDS, VALUES)
    for word, count in zip(WORDS, COUNTS):
        vectors.set_vecattr(word, "count", count)
    vectors.save_word2vec_format(str(TABLES / "gensim.bin"), binary=True)
    vectors.save_word2vec_format(str(TABLES / "gensim.txt"), binary=False)
    vectors.save_word2vec_format(str(TABLES / "gensim.txt.gz"), binary=False)
    vectors.save_word2vec_format(str(TABLES / "gensim_glove.txt"), binary=False, write_header=False)
    np.save(TABLES / "f4.npy", VALUES)
    np.save(TABLES / "f8_fortran.npy", np.asfortranarray(VALUES.astype("f8")))
    np.save(TABLES / "f2.npy", VALUES.astype("f2"))
    np.save(TABLES / "big_endian.npy", VALUES.astype(">f4"))
    for version in ((2, 0), (3, 0)):
        with open(TABLES / f"version_{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, VALUES, version=version)
    np.savez(TABLES / "stored.npz", vectors=VALUES, words=np.array(WORDS), counts=np.array(COUNTS))
    np.savez_compressed(TABLES / "deflated.npz", vectors=VALUES, words=np.array(WORDS), counts=np.array(COUNTS))
    save_file({"wte.weight": VALUES, "half": VALUES.astype("f2"), "double": VALUES.astype("f8"),
               "bias": VALUES[0]}, TABLES / "small.safetensors", metadata={"format": "np"})


def pairs(found):
    return [[word, float(score)] for word, score in found]


def glove(data):
    vectors = KeyedVectors.load_word2vec_format(str(data / "glove-6b-100d-20k.bin.gz"), binary=True)
    single = ["king", "physics", "seoul", "bank", "music"]
    several = [[["king", "woman"], ["man"]], [["paris", "korea"], ["france"]], [["small", "bigger"], ["big"]],
               [["king", "queen", "prince"], []]]
    pearson, spearman, oov = vectors.evaluate_word_pairs(str(data / "wordsim353.csv"), delimiter=",")
    score, sections = vectors.evaluate_word_analogies(str(data / "questions-words.txt"))
    few_score, few = vectors.evaluate_word_analogies(str(data / "questions-words.txt"), restrict_vocab=5000,
                                                     case_insensitive=False)

    def counts(sections):
        return [[s["section"], len(s["correct"]), len(s["correct"]) + len(s["incorrect"])] for s in sections]

    result = {
        "about": f"Made by tests/golden/make_tables.py with gensim {gensim.__version__} on glove-6b-100d-20k.bin.gz, "
                 "wordsim353.csv, questions-words.txt",
        "most_similar": [{"word": word, "found": pairs(vectors.most_similar(word, topn=10))} for word in single],
        "most_similar_of_several": [
            {"positive": positive, "negative": negative,
             "found": pairs(vectors.most_similar(positive=positive, negative=negative, topn=5))}
            for positive, negative in several],
        "similarity": [[left, right, float(vectors.similarity(left, right))]
                       for left, right in (("king", "queen"), ("cat", "dog"), ("tea", "physics"))],
        "wordsim353": {"spearman": float(spearman[0]), "pearson": float(pearson[0]), "oov_percent": float(oov)},
        "questions_words": {"accuracy": float(score), "sections": counts(sections)},
        "questions_words_5000_cased": {"accuracy": float(few_score), "sections": counts(few)},
    }
    (HERE / "glove_gensim.json").write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n")


small_tables()
if len(sys.argv) > 1:
    glove(Path(sys.argv[1]))
print("gensim", gensim.__version__, "numpy", np.__version__, "safetensors", safetensors.__version__)
