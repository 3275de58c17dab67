"""A body of NDJSON is sent as it is. Any text is one: a line that is no record gets its error in a response of 200."""

import schemathesis

NDJSON = "application/x-ndjson"
schemathesis.serializer.alias(NDJSON, "text/plain")


@schemathesis.hook
def filter_case(context, case):
    return case.media_type != NDJSON or not case.meta.generation.mode.is_negative
