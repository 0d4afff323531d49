"""How far the tests of a dataset can be passed without its rules, and how varied the data is.

Nothing is executed: the measures are taken from compiled episodes alone.
"""

from atr_datagen.validity.measure import report
from atr_datagen.validity.render import as_json, as_markdown
from atr_datagen.validity.verdict import GATES, Bound, Verdict, judge, within

__all__ = ["GATES", "Bound", "Verdict", "as_json", "as_markdown", "judge", "report", "within"]
