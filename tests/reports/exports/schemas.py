"""What the platforms read, written down from their descriptions."""

from __future__ import annotations

from typing import Any

_TEXT = '<xs:attribute name="message" type="xs:string"/>'
_TOLD = f"""<xs:complexType mixed="true">{_TEXT}
  <xs:attribute name="type" type="xs:string"/></xs:complexType>"""
# As Jenkins and GitLab read it: properties stand in suites, never in cases.
JUNIT = f"""<?xml version="1.0"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="testsuites"><xs:complexType>
  <xs:sequence><xs:element ref="testsuite" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
  <xs:attribute name="name" type="xs:string"/>
  <xs:attribute name="tests" type="xs:nonNegativeInteger"/>
  <xs:attribute name="failures" type="xs:nonNegativeInteger"/>
  <xs:attribute name="errors" type="xs:nonNegativeInteger"/>
</xs:complexType></xs:element>
<xs:element name="testsuite"><xs:complexType>
  <xs:sequence>
    <xs:element name="properties" minOccurs="0"><xs:complexType><xs:sequence>
      <xs:element name="property" maxOccurs="unbounded"><xs:complexType>
        <xs:attribute name="name" type="xs:string" use="required"/>
        <xs:attribute name="value" type="xs:string" use="required"/>
      </xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element>
    <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
      <xs:choice minOccurs="0">
        <xs:element name="failure">{_TOLD}</xs:element>
        <xs:element name="error">{_TOLD}</xs:element>
        <xs:element name="skipped">{_TOLD}</xs:element>
      </xs:choice>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attribute name="classname" type="xs:string"/>
    </xs:complexType></xs:element>
  </xs:sequence>
  <xs:attribute name="name" type="xs:string" use="required"/>
  <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
  <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
  <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
  <xs:attribute name="skipped" type="xs:nonNegativeInteger"/>
</xs:complexType></xs:element>
</xs:schema>"""


def _object(required: dict[str, Any], optional: dict[str, Any], more: bool = False) -> Any:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **optional},
        "additionalProperties": more,
    }


_STRING = {"type": "string"}
_NAMED = {"type": "string", "minLength": 1}
_POINTS = {"type": "number", "minimum": 0}
_WHOLE = {"type": "integer", "minimum": 0}
_SEEN = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
_FORM = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
_INSTANT = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"}

GRADESCOPE = _object(
    {
        "score": _POINTS,
        "tests": {
            "type": "array",
            "items": _object(
                {"score": _POINTS, "max_score": _POINTS},
                {
                    "status": {"enum": ["passed", "failed"]},
                    "name": _STRING,
                    "number": _STRING,
                    "output": _STRING,
                    "visibility": _SEEN,
                },
            ),
        },
    },
    {
        "output": _STRING,
        "output_format": _FORM,
        "test_output_format": _FORM,
        "test_name_format": _FORM,
        "visibility": _SEEN,
        "stdout_visibility": _SEEN,
    },
)
CLASSROOM50 = _object(
    {
        "schema": {"const": "classroom50/result/v1"},
        **dict.fromkeys(("classroom", "assignment", "owner"), _NAMED),
        "assignment_type": {"enum": ["individual", "group", "team"]},
        "submission": {"type": "string", "pattern": "^submit/"},
        **dict.fromkeys(("commit", "release", "review"), _NAMED),
        "datetime": _INSTANT,
        "score": _WHOLE,
        "max-score": _WHOLE,
        "tests": {
            "type": "array",
            "items": _object(
                {
                    "test-name": _NAMED,
                    "passed": {"type": "boolean"},
                    "score": _WHOLE,
                    "max-score": _WHOLE,
                },
                {},
                more=True,
            ),
        },
    },
    {"graded_at": _INSTANT},
)
AUTOLAB = _object({"scores": {"type": "object", "additionalProperties": {"type": "number"}}}, {})
