"""Compares the values of Parquet files with those of pyarrow. Reads the lines of main.mjs from standard input."""

import collections
import json
import math
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

MISSING = object()
NANOS_PER_DAY = 86_400_000_000_000


class Refused:
    """A value that no record can hold: the import must report it."""


REFUSED = Refused()


def date_text(days):
    """ISO 8601, also before year 1 and after year 9999."""
    # Days to civil: http://howardhinnant.github.io/date_algorithms.html
    z = days + 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    year = yoe + era * 400
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    day = doy - (153 * mp + 2) // 5 + 1
    month = mp + 3 if mp < 10 else mp - 9
    year += month <= 2
    if abs(days) > 100_000_000:
        return REFUSED
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{'-' if year < 0 else '+'}{abs(year):06}"
    return f"{shown}-{month:02}-{day:02}"


def clock_text(nanos):
    seconds, fraction = divmod(nanos, 1_000_000_000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text if fraction == 0 else f"{text}.{fraction:09}".rstrip("0")


NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def expected(scalar, kind):
    """The value that the import must yield for a scalar of pyarrow."""
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return None if not scalar.is_valid else str(scalar.as_py())
        return expected(scalar.value if scalar.is_valid else scalar, kind.storage_type)
    if not scalar.is_valid:
        return None
    if pa.types.is_dictionary(kind):
        return expected(scalar.dictionary[scalar.index.as_py()], kind.value_type)
    if pa.types.is_null(kind):
        return None
    if pa.types.is_boolean(kind):
        return scalar.as_py()
    if pa.types.is_integer(kind):
        return Decimal(scalar.as_py())
    if pa.types.is_floating(kind):
        value = float(scalar.as_py())
        return Decimal(value) if math.isfinite(value) else REFUSED
    if pa.types.is_decimal(kind):
        return scalar.as_py()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        try:
            return scalar.as_py()
        except UnicodeDecodeError:
            return REFUSED
    if pa.types.is_date32(kind):
        return date_text(scalar.value)
    if pa.types.is_date64(kind):
        return date_text(scalar.value // 86_400_000)
    if pa.types.is_timestamp(kind):
        days, rest = divmod(scalar.value * NANOS[kind.unit], NANOS_PER_DAY)
        day = date_text(days)
        return day if day is REFUSED else f"{day}T{clock_text(rest)}{'Z' if kind.tz else ''}"
    if pa.types.is_time(kind):
        nanos = scalar.value * NANOS[kind.unit]
        return clock_text(nanos) if 0 <= nanos <= NANOS_PER_DAY else REFUSED
    if pa.types.is_duration(kind):
        return Decimal(scalar.value)
    if pa.types.is_map(kind):
        return REFUSED
    if pa.types.is_struct(kind):
        parts = [(part.name, expected(scalar[at], part.type)) for at, part in enumerate(kind)]
        return REFUSED if any(value is REFUSED for _, value in parts) else parts
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        values = [expected(value, kind.value_type) for value in scalar.values]
        return REFUSED if any(value is REFUSED for value in values) else values
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return scalar.as_py()
    raise TypeError(f"unknown type {kind}")


def found(cell):
    """A cell of main.mjs."""
    if not isinstance(cell, dict):
        return cell
    if "refused" in cell:
        return REFUSED
    if "number" in cell:
        return Decimal(cell["number"])
    return json.loads(cell["json"], parse_int=Decimal, parse_float=Decimal, object_pairs_hook=list_of_pairs)


class Pairs(list):
    """The members of an object."""


def list_of_pairs(pairs):
    return Pairs(pairs)


def equal(value, cell):
    if isinstance(value, bytes):
        # Bytes without an annotation are text if all of the column are; anything else is reported.
        if cell is REFUSED:
            return True
        if len(value) == 12 and isinstance(cell, str) and cell.startswith("P"):
            return interval(value) == cell
        return isinstance(cell, str) and cell.encode() == value
    if value is REFUSED or cell is REFUSED:
        # A part of a nested value may be bytes, which are refused.
        return cell is REFUSED and (value is REFUSED or has_bytes(value))
    if isinstance(value, list):
        if not isinstance(cell, list) or len(value) != len(cell):
            return False
        return all(equal(a, b) for a, b in zip(value, cell))
    if isinstance(value, tuple):
        return isinstance(cell, tuple) and value[0] == cell[0] and equal(value[1], cell[1])
    if isinstance(value, Decimal) and isinstance(cell, Decimal):
        # JavaScript writes the shortest text of a double.
        return value == cell or Decimal(float(cell)) == value
    return type(value) is type(cell) and value == cell


def has_bytes(value):
    if isinstance(value, bytes):
        return True
    if isinstance(value, tuple):
        return has_bytes(value[1])
    return isinstance(value, list) and any(has_bytes(part) for part in value)


def interval(value):
    months, days, ms = (int.from_bytes(value[at : at + 4], "little") for at in (0, 4, 8))
    text = "P" + (f"{months}M" if months else "") + (f"{days}D" if days else "")
    if ms:
        text += "T" + f"{Decimal(ms) / 1000:f}" + "S"
    return "PT0S" if text == "P" else text


def lines():
    for line in sys.stdin:
        yield json.loads(line)


def main():
    counts = collections.Counter()
    failed = False
    stream = lines()
    for head in stream:
        name = head["name"]
        columns, cells, error = None, None, None
        is_raw, refusals = False, collections.Counter()
        for line in stream:
            if "columns" in line:
                columns = line["columns"]
                cells = [[] for _ in columns]
            elif "cells" in line:
                for at, values in enumerate(line["cells"]):
                    cells[at].extend(values)
            else:
                error, is_raw = line.get("error"), line.get("isRaw")
                if is_raw:
                    print(line.get("stack"))
                break
        try:
            table = pq.ParquetFile(head["file"]).read()
        except Exception as failure:
            table, reason = None, str(failure).split("\n")[0]
        if is_raw:
            failed = True
            counts["fails with a raw error"] += 1
            print(f"RAW    {name}: {error}")
        if error is not None and table is None:
            counts["neither reads it"] += 1
            print(f"both   {name}: {error} | pyarrow: {reason}")
        elif error is not None:
            counts["only pyarrow reads it"] += 1
            print(f"refuse {name}: {error}")
        elif table is None:
            counts["only the import reads it"] += 1
            print(f"extra  {name}: pyarrow: {reason}")
        else:
            wrong = differences(head["file"], table, columns, cells, refusals)
            for text in wrong[:5]:
                print(f"WRONG  {name}: {text}")
            counts["wrong" if wrong else "equal"] += 1
            failed = failed or bool(wrong)
            if refusals:
                counts["of them with values that are refused"] += 0 if wrong else 1
                print(f"part   {name}: " + "; ".join(f"{n} × {text}" for text, n in refusals.most_common(3)))
    print(", ".join(f"{text}: {count}" for text, count in sorted(counts.items())))
    sys.exit(1 if failed else 0)


def differences(file, table, columns, cells, refusals):
    wrong, wide = [], None
    if list(table.column_names) != columns:
        return [f"columns {columns}, pyarrow has {table.column_names}"]
    for at, name in enumerate(columns):
        column = table.column(at)
        if len(column) != len(cells[at]):
            wrong.append(f"{name}: {len(cells[at])} values, pyarrow has {len(column)}")
            continue
        for row, (scalar, cell) in enumerate(zip(column, cells[at])):
            if isinstance(cell, dict) and "refused" in cell:
                refusals[f"{name}: {cell['refused']}"] += 1
            value = expected(scalar, column.type)
            # What is reported is not wrong.
            if found(cell) is REFUSED or equal(value, found(cell)):
                continue
            if pa.types.is_timestamp(column.type) and wide is None:
                # Times of INT96 before 1677 and after 2262 are wrong in pyarrow, unless it is told another unit.
                wide = pq.ParquetFile(file, coerce_int96_timestamp_unit="ms").read()
            if wide is None or expected(wide.column(at)[row], wide.column(at).type) != cell:
                wrong.append(f"{name} ({column.type}), row {row + 1}: {cell!r:.200}, pyarrow has {value!r:.200}")
                break
    return wrong


main()
