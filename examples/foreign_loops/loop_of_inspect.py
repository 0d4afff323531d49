"""A session's tools in the tool loop of Inspect: `react` holds one connection open for all calls.

inspect eval examples/foreign_loops/loop_of_inspect.py --model openai/gpt-5.4
"""

# pyright: reportMissingImports=false

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.tool import mcp_server_stdio

SESSION = ["--episode", "odalys_renner", "--session", "odalys_renner_commerce_01_test"]


@task
def one_session() -> Task:
    server = mcp_server_stdio(command="atr-server", args=["serve", *SESSION])
    return Task(dataset=[Sample(input="Go on.")], solver=react(tools=[server], submit=False))
