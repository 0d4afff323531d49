"""The tools of the benchmark: names, parameters, types and wording."""

from atr_ontology.model import (
    DOMAINS,
    Domain,
    Guard,
    ObjectType,
    Ontology,
    Parameter,
    Tool,
    load_ontology,
    names_object,
)
from atr_ontology.schema import input_schema, safe_parameters, schema_hash

__all__ = [
    "DOMAINS",
    "Domain",
    "Guard",
    "ObjectType",
    "Ontology",
    "Parameter",
    "Tool",
    "input_schema",
    "load_ontology",
    "names_object",
    "safe_parameters",
    "schema_hash",
]
