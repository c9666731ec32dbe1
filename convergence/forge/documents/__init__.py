"""All GraphQL text of the product, validated as a whole against GitHub's published schema by the tests."""
