"""Prints, for each CSV file of a directory, how DuckDB reads it, one JSON object per line.

usage: python3 duckdb-counts.py DIRECTORY
"""

import json
import os
import sys

import duckdb

ENDINGS = (".csv", ".tsv", ".psv", ".csv.gz", ".csv.zst")


def read(file):
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    try:
        rows = connection.execute("SELECT count(*) FROM read_csv_auto(?)", [file]).fetchone()[0]
        has_header, skipped = connection.execute(
            "SELECT HasHeader, SkipRows FROM sniff_csv(?)", [file]
        ).fetchone()
        return {"rows": rows, "header": has_header, "skipped": skipped}
    except Exception as error:  # DuckDB has many classes of errors.
        return {"error": str(error).split("\n")[0]}


def main(directory):
    for path, _, names in sorted(os.walk(directory)):
        for name in sorted(names):
            if name.lower().endswith(ENDINGS):
                file = os.path.join(path, name)
                print(json.dumps({"file": os.path.relpath(file, directory), **read(file)}), flush=True)


main(sys.argv[1])
