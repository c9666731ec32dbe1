"""GraphQL documents against GitHub's published schema and what github.com serves beyond it."""

from functools import cache
from pathlib import Path

import graphql

HERE = Path(__file__).parent
EXTENSION = HERE.parents[1] / "fixtures" / "simulator" / "extension.graphql"


@cache
def schema() -> graphql.GraphQLSchema:
    """The published schema with our extension; taken as valid, because its text repeats two fields."""
    published = graphql.build_schema((HERE / "github-schema.graphql").read_text(encoding="utf-8"), assume_valid=True)
    extension = graphql.parse(EXTENSION.read_text(encoding="utf-8"))
    return graphql.extend_schema(published, extension, assume_valid=True)


def errors(document: str) -> list[str]:
    """What is wrong with a document, in words; empty for one that GitHub accepts."""
    try:
        parsed = graphql.parse(document)
    except graphql.GraphQLSyntaxError as error:
        return [error.message]
    return [error.message for error in graphql.validate(schema(), parsed)]
