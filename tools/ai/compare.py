"""Measures scikit-learn on the split of `npm run ai -- evaluate`: TF-IDF of words with logistic regression.

    python3 -m venv venv && venv/bin/pip install scikit-learn
    venv/bin/python tools/ai/compare.py FILE.csv [--topic queue] [--tags 30] [--splits 1]
"""

import argparse
import collections
import csv
import hashlib

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.multiclass import OneVsRestClassifier

MIN_TOPIC_TICKETS = 50


def is_measured(row, split):
    salt = f"{split}\n" if split else ""
    digest = hashlib.sha256(f"{salt}{row['subject']}\n{row['body']}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32 >= 0.7


def classifier():
    return LogisticRegression(C=10, class_weight="balanced", max_iter=2000)


def vectors(texts, measured):
    vectorizer = TfidfVectorizer()
    learned = vectorizer.fit_transform(texts[~measured])
    return learned, vectorizer.transform(texts[measured])


def topic_f1(texts, topics, measured):
    counts = collections.Counter(topics)
    known = np.array([topic != "" and counts[topic] >= MIN_TOPIC_TICKETS for topic in topics])
    learned, others = vectors(texts[known], measured[known])
    model = classifier().fit(learned, topics[known & ~measured])
    return f1_score(topics[known & measured], model.predict(others), average="macro")


def tag_figures(texts, tags, count, measured):
    frequent = [tag for tag, _ in collections.Counter(tag for own in tags for tag in own).most_common(count)]
    right = np.array([[tag in own for tag in frequent] for own in tags]).astype(int)
    learned, others = vectors(texts, measured)
    found = OneVsRestClassifier(classifier()).fit(learned, right[~measured]).predict(others)
    return frequent, right[measured], found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--topic", default="queue")
    parser.add_argument("--tags", type=int, default=30)
    parser.add_argument("--splits", type=int, default=1)
    options = parser.parse_args()
    with open(options.file, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = np.array([f"{row['subject']}\n{row['body']}" for row in rows], dtype=object)
    topics = np.array([row[options.topic] for row in rows])
    names = [name for name in rows[0] if name.startswith("tag_")]
    tags = [list(dict.fromkeys(row[name] for name in names if row[name])) for row in rows]
    topic_figures, micro_figures = [], []
    for split in range(options.splits):
        measured = np.array([is_measured(row, split) for row in rows])
        topic_figures.append(topic_f1(texts, topics, measured))
        frequent, right, found = tag_figures(texts, tags, options.tags, measured)
        micro_figures.append(f1_score(right, found, average="micro"))
        if split == 0:
            for index, tag in enumerate(frequent):
                figures = [score(right[:, index], found[:, index], zero_division=0) for score in (precision_score, recall_score, f1_score)]
                print(f"{tag:20}", *(f"{figure:.3f}" for figure in figures))
    for name, figures in (("topic macro F1", topic_figures), ("tag micro F1", micro_figures)):
        print(name, *(f"{figure:.3f}" for figure in figures), f"mean {np.mean(figures):.4f}")


if __name__ == "__main__":
    main()
