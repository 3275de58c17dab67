"""The types of requests and responses. Records and filters are dictionaries with these members.

Written by `npm run generate:types` from the schemas in src/schema. Do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, Union

from typing_extensions import NotRequired, TypedDict, TypeVar

from ._codes import ProblemCode

Item = TypeVar("Item")

# A NumPy array is a vector, too.
Vector = Union[Sequence[float], Any]

Action = Literal["search", "records.read", "records.write", "databases.manage", "keys.manage"]


class Boost(TypedDict):
    """A part of the relevance score that depends on the data or the times of the record.

    It has a `filter`, or a `target` and a `scale` with a `column` or a `time`.
    """

    weight: float
    """Weight of the boost in the relevance score, from 0 to 1. The weights of a search are at most 1 together."""
    filter: NotRequired[Filter]
    """The boost is 1 where the filter passes, otherwise 0."""
    column: NotRequired[str]
    """The column of the value: a number, or with a `target` that is a text a string that is a date or a time."""
    time: NotRequired[Literal["created_at", "changed_at", "synced_at"]]
    """The time of the record that is the value."""
    target: NotRequired[Union[float, str]]
    """The boost is max(0, 1 - |value - target| / scale); 0 for a record without a value."""
    scale: NotRequired[Union[float, str]]
    """A number; for times an ISO 8601 duration such as `P30D`, or milliseconds."""


class Problem(TypedDict):
    """One problem of a request."""

    pointer: str
    """JSON pointer into the arguments, such as `/filter/rules/1/operator`; '' is an argument as a whole."""
    detail: str
    """What is wrong, for people."""
    code: ProblemCode
    """What is wrong, for programs."""
    changed_at: NotRequired[str]
    """`precondition_failed`: when the stored record was last changed; absent if there is none."""


class FilterRule(TypedDict):
    """Compares one column of a record. The operator determines the type of `value`.

    - `equals`: The column has exactly this value, of the same type: the number 1 is not the string "1". Strings are
      case-sensitive.
    - `not_equals`: The opposite of `equals`. It also holds for a record without the column.
    - `greater_than`: The column has a number greater than `value`.
    - `less_than`: The column has a number less than `value`.
    - `greater_than_or_equals`: The column has a number greater than `value`, or equal to it.
    - `less_than_or_equals`: The column has a number less than `value`, or equal to it.
    - `contains`: The column has a string that contains `value`; case-sensitive.
    - `not_contains`: The opposite of `contains`. It also holds for a record without the column, or with a value of
      another type.
    - `starts_with`: The column has a string that starts with `value`; case-sensitive.
    - `ends_with`: The column has a string that ends with `value`; case-sensitive.
    - `is_empty`: The record lacks the column, or its value is null, "" or an empty list.
    - `is_not_empty`: The opposite of `is_empty`: the column has a value.
    - `in`: `equals` holds for one of the values.
    - `not_in`: The opposite of `in`. It also holds for a record without the column.
    - `before`: The column has a string that is an earlier time than `value`.
    - `after`: The column has a string that is a later time than `value`.
    - `on_or_before`: The column has a string that is an earlier time than `value`, or the same.
    - `on_or_after`: The column has a string that is a later time than `value`, or the same.
    """

    column: str
    """Name of a column. A column that no record has is empty everywhere."""
    operator: Literal[
    "equals",
    "not_equals",
    "greater_than",
    "less_than",
    "greater_than_or_equals",
    "less_than_or_equals",
    "contains",
    "not_contains",
    "starts_with",
    "ends_with",
    "is_empty",
    "is_not_empty",
    "in",
    "not_in",
    "before",
    "after",
    "on_or_before",
    "on_or_after",
]
    value: NotRequired[Union[str, float, bool, Sequence[Union[str, float, bool]]]]
    """The value to compare with: none for `is_empty` and `is_not_empty`, a list for `in` and `not_in`."""



class FilterGroup(TypedDict):
    """Rules joined by a condition."""

    condition: NotRequired[Literal["AND", "OR"]]
    """`AND`: every rule has to hold. `OR`: at least one. Default: `AND`."""
    rules: Sequence[Filter]
    """Comparisons and nested groups. At least 1 item."""


class TimeRange(TypedDict):
    """Includes both ends. Applies to the time at which a record was last synced, in milliseconds. Digits below a
    millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`."""

    start_time: NotRequired[str]
    """Earliest time. ISO 8601 with Z or an offset. A date alone means midnight UTC. Default: no limit."""
    end_time: NotRequired[str]
    """Latest time. ISO 8601 with Z or an offset. A date alone means midnight UTC. Default: no limit."""


class ValuesFacet(TypedDict):
    """The most frequent values of a column, with the number of matching records each. A list counts once for each
    of its different elements."""

    column: str
    """Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere."""
    type: NotRequired[Literal["values"]]
    """The kind of the facet. Default: `values`."""
    limit: NotRequired[int]
    """Maximum number of values. Default: 10. From 1 to 100."""


class HistogramFacet(TypedDict):
    """Counts of the numbers of a column in intervals [k·interval, (k+1)·interval). A list counts once in each
    interval with a number of it."""

    column: str
    """Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere."""
    type: Literal["histogram"]
    """The kind of the facet."""
    interval: float
    """Width of the intervals. Greater than 0."""


class TimeFacet(TypedDict):
    """Counts of matching records by calendar interval (UTC) of one of their times."""

    time: Literal["created", "changed", "synced"]
    """Which time of a record is counted: when it was first seen (`created`), when its content last changed
    (`changed`), or when it was last seen (`synced`)."""
    interval: Literal["minute", "hour", "day", "week", "month", "year"]
    """Calendar interval in UTC. A week begins on Monday."""


# Counts the matches by the values of a column, or by intervals of numbers or times.
Facet = Union[TimeFacet, HistogramFacet, ValuesFacet]


class Sort(TypedDict):
    """Order of the results; ties by id. Default: last synced first."""

    column: NotRequired[str]
    """The column to sort by: booleans, then numbers, then strings; a list by its smallest element, or in descending
    order by its largest. Records without a value, or with an empty list, are last in both directions. At most 256
    characters."""
    time: NotRequired[Literal["created_at", "changed_at", "synced_at"]]
    """The time of the records to sort by."""
    direction: NotRequired[Literal["asc", "desc"]]
    """Ascending or descending. Default: `asc`."""


class NewTimestamps(TypedDict):
    """Times to store instead of now, for a migration."""

    created_at: NotRequired[str]
    """When the record was first seen. Default: now."""
    changed_at: NotRequired[str]
    """When its content last changed. Default: now."""
    synced_at: NotRequired[str]
    """When the record was last seen. Default: now."""


class EmbeddedPassage(TypedDict):
    """A passage of a text, with its vector. Offsets count UTF-16 code units."""

    column: str
    """The column that most of the passage comes from."""
    start: int
    """Offset of its first character in the value of the column."""
    end: int
    """Offset after its last character."""
    vector: list[float]
    """Its vector. 1 to 4096 items."""


class NewRecord(TypedDict):
    """A record to write. A stored record with the same id, UUID or key is replaced."""

    id: NotRequired[int]
    """Integer id, unique in the database. Default: the next free one. From 1 to 2^53 - 1."""
    uuid: NotRequired[str]
    """UUID, unique in the database. Default: that of the key, or a new one of version 7."""
    key: NotRequired[str]
    """Text that identifies the record, unique in the database: up to 512 bytes of UTF-8. The UUID of the record is
    made from it."""
    data: Mapping[str, object]
    """Values by column name, in the order they were given: strings, numbers, booleans, null, and lists of the first
    three. With the setting `flatten` of the database also objects and lists of any values."""
    timestamps: NotRequired[NewTimestamps]
    """Times to store instead of now, for a migration."""
    vector: NotRequired[Vector]
    """Vector of the record. In a database with a model only together with `embedded_by`, and dropped from a record
    without text. Otherwise the text is embedded. 1 to 4096 items."""
    passages: NotRequired[Sequence[EmbeddedPassage]]
    """In place of `vector`, the passages of a text that is longer than the window of the model, only together with
    `embedded_by`. An export with vectors has them. At least 1 item."""
    embedded_by: NotRequired[str]
    """Fingerprint of the model that made `vector` or `passages` from the text of the record; in a database with a
    model it must be the `fingerprint` of the database. An export with vectors has it. At most 256 characters."""
    if_changed_at: NotRequired[Union[str, None]]
    """Writes the record only if the stored one was last changed at this time; null: only if there is none yet. The
    condition is not stored."""


# How an export to CSV writes the values of columns. `0.00` and `.00`: numbers with as many decimals, with or
# without a zero before the point. `.#`: numbers as JavaScript writes them, without that zero. `python`: as Python
# writes a float, `5.0` and `1e-07`. `True` and `TRUE`: booleans. A column with a value that its format would change
# is written as JavaScript writes it. An import of CSV sets the formats of its columns.
ValueFormats = dict[str, str]


class EmbedPassages(TypedDict):
    """How long texts are split into passages, which have a vector each."""

    per_record: NotRequired[int]
    """Passages that a text may have; a record with more is refused. Default: 64. From 1 to 4096."""
    tokens: NotRequired[int]
    """Tokens of a passage at most, with those that the model adds; at most its window. A text with more is split.
    Default: half of the window, and only a text that is longer than the window is split. From 16 to 65536."""
    overlap: NotRequired[int]
    """Tokens that a passage repeats of the one before it, at most; at most half of the tokens of a passage.
    Default: an eighth. From 0 to 32768."""


class Embed(TypedDict):
    """Which text of a record is embedded. Default: every column with a string, or with a list with a string, as
    `column: value` lines. The elements of a list are joined by `, `."""

    passages: NotRequired[EmbedPassages]
    """How long texts are split into passages, which have a vector each."""
    columns: NotRequired[Sequence[str]]
    """Columns to embed, in this order. Default: every string column. 1 to 256 items."""


class DatabaseSettingsLexical(TypedDict):
    """The columns whose words count."""

    columns: dict[str, int]
    """The columns, each with a weight from 1 to 100: matches of words count by the weight as a part of the highest
    one."""


class SearchDefaults(TypedDict):
    """The values of members that a search or a query leaves out. A page after a cursor has the threshold and the
    weight of words that the page before had."""

    threshold: NotRequired[float]
    """The `threshold` of searches. From 0 to 1."""
    lexical: NotRequired[float]
    """The `lexical` of searches for a text. Above 0 only with the setting `lexical`. From 0 to 1."""
    limit: NotRequired[int]
    """The `limit` of searches and queries. From 1 to 100."""


class DatabaseSettings(TypedDict):
    """The settings of a database. All but `dimensions` can be changed later."""

    embed: NotRequired[Embed]
    """Which text of a record is embedded. Default: every column with a string, or with a list with a string, as
    `column: value` lines. The elements of a list are joined by `, `."""
    model: NotRequired[str]
    """Name of the embedding model: the built-in one, `multilingual-e5-small` if its package is installed, or one of
    the setting `models`. Default: the built-in one, unless `dimensions` is given. At most 256 characters."""
    dimensions: NotRequired[int]
    """Number of values of each vector. Records and searches then bring their own vectors, and the database has no
    model. From 1 to 4096."""
    lexical: NotRequired[Union[bool, DatabaseSettingsLexical]]
    """Whether searches can take exact words into account: those of the embedded columns, or of the named ones,
    embedded or not. The index of the words takes memory. Default: false."""
    flatten: NotRequired[bool]
    """Whether records may have nested objects: their members are columns such as `address.city`. A list with
    objects, lists or null in it is then its JSON text, and so is an object below 16 names. Concerns what is written
    from then on. Default: false."""
    defaults: NotRequired[SearchDefaults]
    """The values of members that a search or a query leaves out. A page after a cursor has the threshold and the
    weight of words that the page before had."""
    formats: NotRequired[ValueFormats]
    """How an export to CSV writes the values of columns. `0.00` and `.00`: numbers with as many decimals, with or
    without a zero before the point. `.#`: numbers as JavaScript writes them, without that zero. `python`: as Python
    writes a float, `5.0` and `1e-07`. `True` and `TRUE`: booleans. A column with a value that its format would
    change is written as JavaScript writes it. An import of CSV sets the formats of its columns."""


class DatabaseChangesEmbedPassages(TypedDict):
    """How long texts are split into passages, which have a vector each."""

    per_record: NotRequired[Union[int, None]]
    """Passages that a text may have; a record with more is refused. Default: 64. From 1 to 4096."""
    tokens: NotRequired[Union[int, None]]
    """Tokens of a passage at most, with those that the model adds; at most its window. A text with more is split.
    Default: half of the window, and only a text that is longer than the window is split. From 16 to 65536."""
    overlap: NotRequired[Union[int, None]]
    """Tokens that a passage repeats of the one before it, at most; at most half of the tokens of a passage.
    Default: an eighth. From 0 to 32768."""


class DatabaseChangesEmbed(TypedDict):
    """Which text of a record is embedded. Default: every column with a string, or with a list with a string, as
    `column: value` lines. The elements of a list are joined by `, `."""

    columns: NotRequired[Union[Sequence[str], None]]
    """Columns to embed, in this order. Default: every string column. 1 to 256 items."""
    passages: NotRequired[Union[DatabaseChangesEmbedPassages, None]]
    """How long texts are split into passages, which have a vector each."""


class DatabaseChangesLexical(TypedDict):
    """The columns whose words count."""

    columns: dict[str, Union[int, None]]
    """The columns, each with a weight from 1 to 100: matches of words count by the weight as a part of the highest
    one."""


class DatabaseChangesDefaults(TypedDict):
    """The values of members that a search or a query leaves out. A page after a cursor has the threshold and the
    weight of words that the page before had."""

    threshold: NotRequired[Union[float, None]]
    """The `threshold` of searches. From 0 to 1."""
    lexical: NotRequired[Union[float, None]]
    """The `lexical` of searches for a text. Above 0 only with the setting `lexical`. From 0 to 1."""
    limit: NotRequired[Union[int, None]]
    """The `limit` of searches and queries. From 1 to 100."""


class DatabaseChanges(TypedDict):
    """Changes of the settings of a database, as a JSON merge patch (RFC 7396): what is left out stays, and null
    removes a setting, which then has its default. `embed` and `model` change once every record has its new
    vector."""

    embed: NotRequired[Union[DatabaseChangesEmbed, None]]
    """Which text of a record is embedded. Default: every column with a string, or with a list with a string, as
    `column: value` lines. The elements of a list are joined by `, `."""
    model: NotRequired[str]
    """Name of the embedding model: the built-in one, `multilingual-e5-small` if its package is installed, or one of
    the setting `models`. Default: the built-in one, unless `dimensions` is given. At most 256 characters."""
    lexical: NotRequired[Union[bool, DatabaseChangesLexical, None]]
    """Whether searches can take exact words into account: those of the embedded columns, or of the named ones,
    embedded or not. The index of the words takes memory. Default: false."""
    flatten: NotRequired[Union[bool, None]]
    """Whether records may have nested objects: their members are columns such as `address.city`. A list with
    objects, lists or null in it is then its JSON text, and so is an object below 16 names. Concerns what is written
    from then on. Default: false."""
    defaults: NotRequired[Union[DatabaseChangesDefaults, None]]
    """The values of members that a search or a query leaves out. A page after a cursor has the threshold and the
    weight of words that the page before had."""
    formats: NotRequired[Union[dict[str, Union[str, None]], None]]
    """How an export to CSV writes the values of columns. `0.00` and `.00`: numbers with as many decimals, with or
    without a zero before the point. `.#`: numbers as JavaScript writes them, without that zero. `python`: as Python
    writes a float, `5.0` and `1e-07`. `True` and `TRUE`: booleans. A column with a value that its format would
    change is written as JavaScript writes it. An import of CSV sets the formats of its columns."""


class KeyRequest(TypedDict):
    """A key to issue. It may do no more than the key that issues it."""

    name: str
    """Name of the key, for people. At most 100 characters."""
    actions: Sequence[Action]
    """What the key may do. 1 to 5 items."""
    databases: Union[Literal["*"], Sequence[str]]
    """Ids of the databases that the key may see, or `*` for all."""
    expires_at: NotRequired[str]
    """When the key stops to be valid. ISO 8601 with Z or an offset. A date alone means midnight UTC. Digits below a
    millisecond are cut off. Default: never."""
    filter: NotRequired[Filter]
    """The key sees only records that pass this filter."""


class WebhookRequest(TypedDict):
    """A webhook to create."""

    url: str
    """Changes are posted to this URL. A response with status 2xx acknowledges them; redirects are not followed. It
    has no user name and no password. Its host must have a public address, unless the operator allows others. At
    most 2048 characters."""
    after: NotRequired[int]
    """Position of the change feed after which deliveries start. Default: the current position. From 0 to 2^53 -
    1."""


class Timestamps(TypedDict):
    """The times of a record, in UTC."""

    created_at: str
    """When the record was first seen."""
    changed_at: str
    """When the content of the record last changed."""
    synced_at: str
    """When the record was last seen, changed or not."""


class Passage(TypedDict):
    """With `passages` or `explain`, for a record whose text is longer than the window of the model: the passage
    that matches best. Offsets count UTF-16 code units."""

    column: str
    """The column that most of the passage comes from."""
    start: int
    """Offset of its first character in the value of the column."""
    end: int
    """Offset after its last character."""


class BestPassage(TypedDict):
    """A passage that matches, with its text."""

    column: str
    """The column that most of the passage comes from."""
    start: int
    """Offset of its first character in the value of the column."""
    end: int
    """Offset after its last character."""
    score: float
    """That of a record with this text alone, without boosts, in steps of 1e-9. From 0 to 1."""
    text: str
    """The text of the column from `start` to `end`."""


class StoredRecordGroup(TypedDict):
    """With `counts` of `distinct`: the matches with the value of this record."""

    value: Union[Union[str, float, bool, None], list[Union[str, float, bool]]]
    """The value of the record in the column; null without a value."""
    count: int
    """How many matches have this value, this record included. Without a value: 1."""


class StoredRecord(TypedDict):
    """A record."""

    id: int
    """Integer id of the record. From 1 to 2^53 - 1."""
    uuid: str
    """UUID of the record."""
    key: NotRequired[str]
    """Key of the record, if it has one: up to 512 bytes of UTF-8."""
    data: dict[str, Any]
    """Values by column name, in the order they were given: strings, numbers, booleans, null, and lists of the first
    three."""
    timestamps: Timestamps
    """The times of a record, in UTC."""
    vector: NotRequired[list[float]]
    """With `vectors`: the stored vector, of a record with one."""
    passages: NotRequired[list[EmbeddedPassage]]
    """With `vectors`, in place of `vector`: the passages of a record whose text is longer than the window of the
    model."""
    embedded_by: NotRequired[str]
    """With `vectors`: fingerprint of the model that made `vector` or `passages`. Absent in a database without a
    model."""
    group: NotRequired[StoredRecordGroup]
    """With `counts` of `distinct`: the matches with the value of this record."""
    passage: NotRequired[Passage]
    """With `passages` or `explain`, for a record whose text is longer than the window of the model: the passage
    that matches best. Offsets count UTF-16 code units."""
    best_passages: NotRequired[list[BestPassage]]
    """With a number as `passages`: the passages that match best, the best first. A record whose text was not split
    has one for each embedded column with a text."""
    highlights: NotRequired[dict[str, list[list[int]]]]
    """With `highlights`: the places of the words that match those of the search, by column. Offsets count UTF-16
    code units. Places do not overlap. Columns without such words are absent."""
    explain: NotRequired[dict[str, Any]]
    """With `explain`: which rules of the filter the record passed. Not a stable format."""


class Page(TypedDict, Generic[Item]):
    """A page of records."""

    results: list[Item]
    """The records of the page: of a search by score, highest first; of a query in the order of `sort`."""
    pagination: PagePosition
    """Where the page is among all pages."""
    total: NotRequired[Total]
    """The exact number of matches on all pages."""
    facets: NotRequired[list[FacetCounts]]
    """The counts of each facet, in the order of the request."""
    explain: NotRequired[dict[str, Any]]
    """With `explain`: how the page was found (plan, records scanned and rescored, times). Not a stable format."""


class MapPoint(TypedDict):
    """A record on a map."""

    id: int
    """Integer id of the record. From 1 to 2^53 - 1."""
    uuid: str
    """UUID of the record."""
    relevance_score: NotRequired[float]
    """Similarity in meaning, in steps of 1e-9: 0 means unrelated, 1 the same meaning. Present only in results of a
    search. From 0 to 1."""
    x: float
    """Place along the direction in which the vectors differ most."""
    y: float
    """Place along the direction in which the vectors differ second most."""
    data: dict[str, Any]
    """Values of the columns of the request, where the record has them."""


class Points(TypedDict):
    """Records as points of a plane: the nearer two points, the more alike are their texts."""

    points: list[MapPoint]
    """In the order of the results. Fewer where the limit `page_bytes` ends them. Records without a vector have no
    place."""
    variance: list[float]
    """The part of the differences between the vectors that `x` shows, and the part that `y` shows. 2 to 2 items."""
    has_more: bool
    """Whether there are further matches, which have no point."""


class PagePosition(TypedDict):
    """Where the page is among all pages."""

    limit: int
    """The limit of the request. From 1 to 100."""
    next_cursor: NotRequired[str]
    """`cursor` of the request for the next page. Present only if `has_more` is true."""
    has_more: bool
    """Whether there are further matches after this page."""


class Total(TypedDict):
    """The exact number of matches on all pages."""

    value: int
    """Number of matches on all pages; with `distinct`, of results."""


class ValuesCountsValues(TypedDict):

    value: Union[str, float, bool]
    """A value of the column."""
    count: int
    """Number of matches."""


class ValuesCounts(TypedDict):
    """The result of a `values` facet."""

    column: str
    """The column of the request."""
    type: Literal["values"]
    """The kind of the facet."""
    values: list[ValuesCountsValues]
    """Most frequent first; ties by type (boolean, number, string) and value."""
    other: NotRequired[int]
    """Matches with a value that is not listed. A list counts once for each such element."""
    missing: NotRequired[int]
    """Matches without a value: the column is absent, null or an empty list."""


HistogramCountsBuckets = TypedDict(
    "HistogramCountsBuckets",
    {
        # Start of the interval.
        "from": float,
        # Number of matches.
        "count": int,
    },
)


class HistogramCounts(TypedDict):
    """The result of a `histogram` facet."""

    column: str
    """The column of the request."""
    type: Literal["histogram"]
    """The kind of the facet."""
    interval: float
    """Width of the intervals."""
    buckets: list[HistogramCountsBuckets]
    """In ascending order, without empty intervals."""
    missing: NotRequired[int]
    """Matches whose column holds no number."""


TimeCountsBuckets = TypedDict(
    "TimeCountsBuckets",
    {
        # Start of the interval.
        "from": str,
        # Number of matches.
        "count": int,
    },
)


class TimeCounts(TypedDict):
    """The result of a facet of times."""

    time: Literal["created", "changed", "synced"]
    """Which time of a record is counted: when it was first seen (`created`), when its content last changed
    (`changed`), or when it was last seen (`synced`)."""
    interval: Literal["minute", "hour", "day", "week", "month", "year"]
    """Calendar interval in UTC. A week begins on Monday."""
    buckets: list[TimeCountsBuckets]
    """In ascending order, without empty intervals."""


# The counts of one facet.
FacetCounts = Union[ValuesCounts, HistogramCounts, TimeCounts]


class WrittenRecord(TypedDict):
    """What became of one record of an upsert."""

    id: int
    """Integer id of the record. From 1 to 2^53 - 1."""
    key: NotRequired[str]
    """Key of the record, if it has one: up to 512 bytes of UTF-8."""
    uuid: str
    """UUID of the record."""
    status: Literal["created", "changed", "unchanged"]
    """Whether the record is new, has new content, or had this content already."""


class BatchResult(TypedDict):
    """What became of the records of an upsert."""

    results: list[WrittenRecord]
    """One result for each record, in the order of the request."""
    created: int
    """Number of new records."""
    changed: int
    """Number of records with new content."""
    unchanged: int
    """Number of records that had this content already."""
    started_at: str
    """Time of the first commit, by the clock of the store. What this call wrote was last synced then or later, and
    what earlier calls wrote, before. Records that come with their time of last sync are an exception."""


class LineProblem(TypedDict):
    """A problem of a line. The line is not stored; the others are."""

    type: Literal["problem"]
    """The kind of the event."""
    line: int
    """Number of the line, from 1."""
    code: ProblemCode
    """For programs. Codes are never renamed."""
    detail: str
    """For people. The wording may change."""
    pointer: str
    """JSON pointer into the line."""
    changed_at: NotRequired[str]
    """`precondition_failed`: when the stored record was last changed; absent if there is none."""


class LineProgress(TypedDict):
    """The records that are durable and searchable so far."""

    type: Literal["progress"]
    """The kind of the event."""
    lines: int
    """Number of lines read so far."""
    committed: int
    """Number of records that are durable and searchable."""


class LineSummary(TypedDict):
    """The last line if all lines were read."""

    type: Literal["summary"]
    """The kind of the event."""
    lines: int
    """Number of all lines."""
    created: int
    """Number of new records."""
    changed: int
    """Number of records with new content."""
    unchanged: int
    """Number of records that had this content already."""
    failed: int
    """Number of lines with at least one problem."""
    started_at: str
    """Time of the first commit, by the clock of the store. What this call wrote was last synced then or later, and
    what earlier calls wrote, before. Records that come with their time of last sync are an exception."""
    deleted: NotRequired[int]
    """A replacement of all records: number of deleted records."""


class Change(TypedDict):
    """One change of a record."""

    position: int
    """Position in the change feed. Positions increase; they may skip numbers."""
    kind: Literal["created", "changed", "deleted"]
    """What happened to the record."""
    id: int
    """Integer id of the record. From 1 to 2^53 - 1."""
    key: NotRequired[str]
    """Key of the record, if it has or had one: up to 512 bytes of UTF-8."""
    uuid: str
    """UUID of the record."""
    at: str
    """When it happened."""


class Changes(TypedDict):
    """A part of the change feed."""

    changes: list[Change]
    """Oldest first."""
    position: int
    """`after` of the next request."""
    has_more: bool
    """Whether there are further changes now."""
    epoch: str
    """Identifies the history of the change feed up to `position`. Pass both to the next request, and do not compare
    epochs."""


class DatabaseDescriptionLexical(TypedDict):
    """The columns whose words count."""

    columns: dict[str, int]
    """The columns, each with a weight from 1 to 100: matches of words count by the weight as a part of the highest
    one."""


class ColumnDescription(TypedDict):
    """A column of a database."""

    name: str
    """Name of the column."""
    types: list[Literal["string", "number", "boolean", "null", "list"]]
    """Types of its values."""
    records: int
    """Number of records that have the column."""


class DatabaseDescriptionTimes(TypedDict):
    """Times of the database, in UTC."""

    created_at: str
    """When the database was created."""
    last_write_at: str
    """When records were last written or deleted."""
    as_of: NotRequired[str]
    """Where another process writes the records: when they were last read. The data is of this time."""


class DatabaseDescriptionScores(TypedDict):
    """What scores of the model mean, where that was measured."""

    related: float
    """From here on, a record is related to the text of a search. From 0 to 1."""
    close: float
    """From here on, a record is close in meaning to the text. From 0 to 1."""
    lexical: float
    """The weight of exact words to begin with. From 0 to 1."""


class DatabaseDescription(TypedDict):
    """Settings, columns, sizes and times of a database."""

    id: str
    """Id of the database."""
    records: int
    """Number of records."""
    passages: NotRequired[int]
    """Number of vectors: one for each record, or one for each passage of a long record."""
    without_text: NotRequired[int]
    """Records without text in the embedded columns, or with none that the model knows. They have no vector, so no
    search finds them."""
    model: Union[str, None]
    """Name of the embedding model; null: the caller provides the vectors."""
    fingerprint: Union[str, None]
    """A hash of everything that determines the vectors of the model."""
    dimensions: int
    """Number of values of each vector."""
    lexical: Union[bool, DatabaseDescriptionLexical]
    """Whether searches can take exact words into account: those of the embedded columns, or of the named ones,
    embedded or not. The index of the words takes memory. Default: false."""
    lexical_records: NotRequired[int]
    """With `lexical`: records whose words are indexed so far. A search indexes what it needs, so it finds all of
    them."""
    embed: Embed
    """Which text of a record is embedded. Default: every column with a string, or with a list with a string, as
    `column: value` lines. The elements of a list are joined by `, `."""
    flatten: NotRequired[bool]
    """Whether records may have nested objects: their members are columns such as `address.city`. A list with
    objects, lists or null in it is then its JSON text, and so is an object below 16 names. Concerns what is written
    from then on. Default: false."""
    defaults: NotRequired[SearchDefaults]
    """The values of members that a search or a query leaves out. A page after a cursor has the threshold and the
    weight of words that the page before had."""
    formats: NotRequired[ValueFormats]
    """The formats of columns in CSV, if there are any."""
    columns: list[ColumnDescription]
    """Columns that records have or had."""
    sizes: dict[str, int]
    """Bytes of memory in all and by purpose, and bytes of files."""
    times: DatabaseDescriptionTimes
    """Times of the database, in UTC."""
    reembedding: NotRequired[Reembedding]
    """The re-embedding with another model, if there is one."""
    scores: NotRequired[DatabaseDescriptionScores]
    """What scores of the model mean, where that was measured."""
    notice: NotRequired[str]
    """What to know of the model: that it does not know the language of most of the first records, and what
    helps."""


class Alias(TypedDict):
    """A further name of a database."""

    name: str
    """Name of the alias. No database has this id."""
    database: str
    """Id of the database that the alias names."""


class DoctorProblem(TypedDict):
    """Something that is wrong."""

    detail: str
    """What is wrong, for people."""
    records: NotRequired[int]
    """Number of affected records; absent where no record is known."""
    ids: NotRequired[list[int]]
    """Integer ids of the first of them, up to 10."""


class DoctorCheck(TypedDict):
    """The outcome of one check of the doctor."""

    check: str
    """What was checked."""
    database: NotRequired[str]
    """The database; absent for a check of the whole directory."""
    status: Literal["ok", "problem", "repaired"]
    """problem: something is wrong. repaired: something was wrong, and `--repair` repaired it."""
    detail: str
    """What was checked, or what is wrong, for people."""
    problems: NotRequired[list[DoctorProblem]]
    """What is wrong, each with the affected records."""
    advice: NotRequired[str]
    """What to do about the problem."""


class ReembeddingEmbedPassages(TypedDict):
    """How long texts are split into passages, which have a vector each."""

    per_record: NotRequired[int]
    """Passages that a text may have; a record with more is refused. Default: 64. From 1 to 4096."""
    tokens: NotRequired[int]
    """Tokens of a passage at most, with those that the model adds; at most its window. A text with more is split.
    Default: half of the window, and only a text that is longer than the window is split. From 16 to 65536."""
    overlap: NotRequired[int]
    """Tokens that a passage repeats of the one before it, at most; at most half of the tokens of a passage.
    Default: an eighth. From 0 to 32768."""


class ReembeddingEmbed(TypedDict):
    """Which text of a record is embedded. Default: every column with a string, or with a list with a string, as
    `column: value` lines. The elements of a list are joined by `, `."""

    passages: NotRequired[ReembeddingEmbedPassages]
    """How long texts are split into passages, which have a vector each."""
    columns: NotRequired[list[str]]
    """Columns to embed, in this order. Default: every string column. 1 to 256 items."""


class ReembeddingProblem(TypedDict):
    """Why the re-embedding failed or waits."""

    code: str
    """An error code, for programs."""
    detail: str
    """For people. The wording may change."""


Reembedding = TypedDict(
    "Reembedding",
    {
        # The model that makes the new vectors.
        "model": str,
        # Which text of a record is embedded. Default: every column with a string, or with a list with a string, as
        # `column: value` lines. The elements of a list are joined by `, `.
        "embed": ReembeddingEmbed,
        # The model of the current vectors; null: the caller provided them.
        "from": Union[str, None],
        # running: texts are embedded. switching: writes wait until the switch is done. waiting: the service does
        # not have the model. failed: see `problem`; the database keeps its vectors, and the same request resumes
        # the re-embedding.
        "state": Literal["running", "switching", "waiting", "failed", "done"],
        # Records that have their new vector.
        "done": int,
        # Records of the database.
        "records": int,
        # When it began.
        "started_at": str,
        # Why the re-embedding failed or waits.
        "problem": NotRequired[ReembeddingProblem],
    },
)


class SyncDescriptionRefusedRows(TypedDict):
    """A row that could not become a record."""

    key: str
    """Key of the row."""
    reason: str
    """Why, for people."""


class SyncDescriptionProgress(TypedDict):
    """How far the running pass is."""

    rows: int
    """Rows whose records are stored, or that were refused."""
    total: NotRequired[int]
    """Rows to expect; absent where the source cannot tell."""
    rows_per_second: float
    """Rows per second since the pass began."""
    seconds_left: NotRequired[float]
    """Seconds until the end at this rate."""


class SyncDescriptionLastWholePass(TypedDict):
    """The last pass since the start of the service that compared all rows."""

    at: str
    """When it was complete."""
    read: int
    """Rows that were read."""
    written: int
    """Records that were new or differed."""
    unchanged: int
    """Records that had this content already."""
    deleted: int
    """Records whose rows were gone."""


class SyncDescription(TypedDict):
    """How far a source is that a database is kept in step with."""

    name: str
    """Name of the source. The keys of its records begin with it and `/`."""
    database: str
    """Id of the database."""
    state: Literal["new", "reading", "waiting", "failed", "withheld", "in_step"]
    """new: no pass was complete yet. reading: a pass runs, or was interrupted. waiting: the last attempt failed,
    and the next one may succeed by itself. failed: somebody must do what `reason` says; it is tried again each
    minute. withheld: deletions wait for a confirmation. in_step: none of these."""
    in_step_as_of: NotRequired[str]
    """The moment of the source that the records show; absent before the first complete pass, and while a pass has
    written a part or deletions are withheld."""
    records: int
    """Records of the source."""
    refused: int
    """Rows that could not become records."""
    refused_rows: list[SyncDescriptionRefusedRows]
    """The first 1,000 of them."""
    withheld: int
    """Records that wait for a confirmation to be deleted."""
    reason: NotRequired[str]
    """Why the last attempt failed, for people."""
    by_scan: NotRequired[str]
    """Why each pass scans the table, although `stream` asks for its changes at once, for people."""
    next_attempt: NotRequired[str]
    """When the next attempt or the next pass begins."""
    progress: NotRequired[SyncDescriptionProgress]
    """How far the running pass is."""
    last_whole_pass: NotRequired[SyncDescriptionLastWholePass]
    """The last pass since the start of the service that compared all rows."""
    requested: NotRequired[list[Literal["reconcile", "confirm"]]]
    """Passes that were asked for and are not complete."""


class KeyDescription(TypedDict):
    """A key without its secret."""

    key_id: str
    """Id of the key. It is not secret."""
    name: str
    """Name of the key, for people. At most 100 characters."""
    actions: list[Action]
    """What the key may do. 1 to 5 items."""
    databases: Union[Literal["*"], list[str]]
    """Ids of the databases that the key may see, or `*` for all."""
    created_at: str
    """When the key was issued."""
    expires_at: NotRequired[str]
    """When the key stops to be valid; absent: never."""
    filter: NotRequired[FilterGroup]
    """The key sees only records that pass this filter."""
    issued_by: str
    """Id of the key that issued this one."""


class IssuedKey(KeyDescription):
    """A new key with its secret."""

    key: str
    """The secret. It is shown only here."""


class WebhookDescription(TypedDict):
    """A webhook without its secret."""

    webhook_id: str
    """Id of the webhook."""
    url: str
    """Changes are posted to this URL. A response with status 2xx acknowledges them; redirects are not followed. It
    has no user name and no password. Its host must have a public address, unless the operator allows others. At
    most 2048 characters."""
    position: int
    """Position of the last acknowledged change. From 0 to 2^53 - 1."""
    failures: int
    """Failed attempts of the next delivery so far."""
    last_failure: NotRequired[Literal["unreachable", "rejected"]]
    """Why the last attempt failed: `rejected` for a response other than 2xx, `unreachable` for every other cause.
    The log of the service has the details."""
    created_at: str
    """When the webhook was created."""
    created_by: str
    """Id of the key that created the webhook, which ends with that key."""


class CreatedWebhook(WebhookDescription):
    """A new webhook with its secret."""

    secret: str
    """Signs the deliveries. It is shown only here."""


class WebhookDelivery(TypedDict):
    """The body of a delivery to a webhook."""

    database: str
    """Id of the database."""
    epoch: str
    """Identifies the history of the change feed up to `position`. Pass both to the next request, and do not compare
    epochs."""
    changes: list[Change]
    """Oldest first."""
    position: int
    """Position of the last change of the delivery. From 0 to 2^53 - 1."""


class SearchQueryLike(TypedDict):
    """Records that are examples, at most 100: the search is for what is like the mean of the positive ones and
    unlike that of the negative ones. The examples are no results."""

    positive: Sequence[Union[int, str]]
    """Ids of records that results are like: integers, UUIDs, or `key:` and a key. 1 to 100 items."""
    negative: NotRequired[Sequence[Union[int, str]]]
    """Ids of records that results are unlike. Default: none. 0 to 100 items."""


class SearchQuery(TypedDict):
    """What a search looks for: a text, a vector, or examples."""

    text: NotRequired[str]
    """Text to search for by meaning, at most 8000 bytes of UTF-8. Only for a database with a model. With `vector`,
    and only with `lexical`, it is the text whose words are searched for."""
    vector: NotRequired[Vector]
    """A vector with as many values as the database has dimensions, such as one that the model of the database made.
    1 to 4096 items."""
    like: NotRequired[SearchQueryLike]
    """Records that are examples, at most 100: the search is for what is like the mean of the positive ones and
    unlike that of the negative ones. The examples are no results."""


class Distinct(TypedDict):
    """The column whose values are distinct, and what results show of it."""

    column: str
    """Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere."""
    counts: NotRequired[bool]
    """Also show the value of each result and how many matches have it, in the member `group`. Default: false."""


class SearchOptions(TypedDict):
    """The options of a search."""

    threshold: NotRequired[Union[float, None]]
    """Minimum relevance score of the results: 0 means unrelated, 1 the same meaning; a score equal to it passes.
    Default: that of the database, or 0.2; with `lexical` and `boosts`, 0.2 times (1 - lexical - the weights). From
    0 to 1."""
    lexical: NotRequired[Union[float, None]]
    """Weight of exact words in the relevance score: it is (1 - lexical) times the similarity in meaning plus
    lexical times the lexical score. Above 0 only for a database with the setting `lexical`. Default: that of the
    database for a search by text, or 0. From 0 to 1."""
    prefix: NotRequired[Union[bool, None]]
    """Whether the last word of the text may be the beginning of a word, as while it is typed. Records with the
    whole word score higher, and those with a longer word the lower the longer it is. Needs `lexical`. Default:
    false."""
    boosts: NotRequired[Union[Sequence[Boost], None]]
    """Parts of the relevance score besides meaning and exact words: it is (1 - lexical - the weights) times the
    similarity in meaning, plus lexical times the lexical score, plus the sum of weight times boost. Default: none.
    0 to 8 items."""
    filter: NotRequired[Union[Filter, None]]
    """Rules that every result satisfies. Default: all records."""
    time_range: NotRequired[Union[TimeRange, None]]
    """Includes both ends. Applies to the time at which a record was last synced, in milliseconds. Digits below a
    millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`."""
    passages: NotRequired[Union[Union[bool, int], None]]
    """True: also show which passage of a long record matches best, in the member `passage` of its result. A number:
    show so many of the best passages of each result with their texts, in its member `best_passages`. Default:
    false."""
    neighbours: NotRequired[Union[int, None]]
    """With a number as `passages`: how many passages before and after each one are joined with it. Default: none.
    From 1 to 8."""
    highlights: NotRequired[Union[bool, None]]
    """Also show which words of each result match those of the text, in its member `highlights`. Needs `lexical` in
    `search`. Default: false."""
    columns: NotRequired[Union[Sequence[str], None]]
    """The columns that results show in their `data`; an empty list for none. Default: all. 0 to 100 items."""
    total: NotRequired[Union[bool, None]]
    """Also count every match, on all pages. Default: false."""
    facets: NotRequired[Union[Sequence[Facet], None]]
    """Also count the matches, on all pages, by value or interval. 1 to 16 items."""
    distinct: NotRequired[Union[Union[str, Distinct], None]]
    """A column: of the records with an equal value in it, only the first in the order of the results is a result.
    Records without a value stand for themselves. `total` counts results, and facets count all matches."""
    vectors: NotRequired[Union[bool, None]]
    """Also show the stored vectors of each record, in the members of an export. A key needs `records.read`.
    Default: false."""
    explain: NotRequired[Union[bool, None]]
    """Also explain how the page was found, and which rules each record passed. Default: false."""
    limit: NotRequired[Union[int, None]]
    """Maximum number of results on the page. Default: that of the database, or 50. From 1 to 100."""
    cursor: NotRequired[Union[str, None]]
    """`next_cursor` of a previous response. It never expires. Default: the first page. At most 24576 characters."""


class QueryOptions(TypedDict):
    """The options of a query."""

    filter: NotRequired[Union[Filter, None]]
    """Rules that every result satisfies. Default: all records."""
    time_range: NotRequired[Union[TimeRange, None]]
    """Includes both ends. Applies to the time at which a record was last synced, in milliseconds. Digits below a
    millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`."""
    sort: NotRequired[Union[Sort, None]]
    """Order of the results; ties by id. Default: last synced first."""
    columns: NotRequired[Union[Sequence[str], None]]
    """The columns that results show in their `data`; an empty list for none. Default: all. 0 to 100 items."""
    total: NotRequired[Union[bool, None]]
    """Also count every match, on all pages. Default: false."""
    facets: NotRequired[Union[Sequence[Facet], None]]
    """Also count the matches, on all pages, by value or interval. 1 to 16 items."""
    distinct: NotRequired[Union[Union[str, Distinct], None]]
    """A column: of the records with an equal value in it, only the first in the order of the results is a result.
    Records without a value stand for themselves. `total` counts results, and facets count all matches."""
    vectors: NotRequired[Union[bool, None]]
    """Also show the stored vectors of each record, in the members of an export. A key needs `records.read`.
    Default: false."""
    explain: NotRequired[Union[bool, None]]
    """Also explain how the page was found, and which rules each record passed. Default: false."""
    limit: NotRequired[Union[int, None]]
    """Maximum number of results on the page. Default: that of the database, or 50. From 1 to 100."""
    cursor: NotRequired[Union[str, None]]
    """`next_cursor` of a previous response. It never expires. Default: the first page. At most 24576 characters."""


class MapOptions(TypedDict):
    """The options of a map."""

    threshold: NotRequired[Union[float, None]]
    """Minimum relevance score of the results: 0 means unrelated, 1 the same meaning; a score equal to it passes.
    Default: that of the database, or 0.2; with `lexical` and `boosts`, 0.2 times (1 - lexical - the weights). From
    0 to 1."""
    lexical: NotRequired[Union[float, None]]
    """Weight of exact words in the relevance score: it is (1 - lexical) times the similarity in meaning plus
    lexical times the lexical score. Above 0 only for a database with the setting `lexical`. Default: that of the
    database for a search by text, or 0. From 0 to 1."""
    prefix: NotRequired[Union[bool, None]]
    """Whether the last word of the text may be the beginning of a word, as while it is typed. Records with the
    whole word score higher, and those with a longer word the lower the longer it is. Needs `lexical`. Default:
    false."""
    boosts: NotRequired[Union[Sequence[Boost], None]]
    """Parts of the relevance score besides meaning and exact words: it is (1 - lexical - the weights) times the
    similarity in meaning, plus lexical times the lexical score, plus the sum of weight times boost. Default: none.
    0 to 8 items."""
    filter: NotRequired[Union[Filter, None]]
    """Rules that every record satisfies. Default: all records."""
    time_range: NotRequired[Union[TimeRange, None]]
    """Includes both ends. Applies to the time at which a record was last synced, in milliseconds. Digits below a
    millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`."""
    columns: NotRequired[Union[Sequence[str], None]]
    """The columns that each point has in its `data`. Default: none. 0 to 16 items."""


# A rule, or a group of rules.
Filter = Union[FilterRule, FilterGroup]

# An event of a stream of lines: a problem of a line, the progress after a commit, or the summary at the end.
LineEvent = Union[LineProblem, LineProgress, LineSummary]


# A text, or a dict with the other ways to search.
Query = Union[str, SearchQuery]


class BatchSearch(SearchOptions):
    """A search of a batch."""

    search: Query
    """What the search looks for."""


class SearchResult(StoredRecord):
    """A record that a search found."""

    relevance_score: float
    """Similarity in meaning, in steps of 1e-9: 0 means unrelated, 1 the same meaning."""
