"""A caller's own prompt, answered with any JSON object that the model chooses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import ConfigDict, model_validator

from .offline import plan
from .prompts import shipped
from .tasks import AnswerForm, Task


class AnyObject(AnswerForm):
    """Any JSON object that can be sent on."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        json.dumps(self.model_extra, ensure_ascii=False, allow_nan=False).encode("utf-8")
        return self


class PromptTask(Task[AnyObject]):
    """The only task whose data is an instruction: a program supplies it, and no memory goes into it."""

    def messages(self) -> list[dict[str, str]]:
        """The prompt as the user's message."""
        return [
            {"role": "system", "content": self.told()},
            {"role": "user", "content": str(self.data["memory"])},
        ]


def prompted(prompt: str, now: datetime) -> PromptTask:
    """The model's JSON object for a prompt that describes a situation and asks for a plan."""
    return PromptTask(
        "prompt",
        AnyObject,
        shipped("prompt"),
        {"memory": prompt, "now": now.isoformat()},
    )


def offline(data: Mapping[str, Any]) -> AnyObject:
    """By rules: what the prompt's lines schedule for some time of today, as ``{"actions": [...]}``."""
    lines = [line.strip() for line in str(data["memory"]).splitlines() if line.strip()]
    records = [{"number": number, "when": data["now"], "text": line} for number, line in enumerate(lines, start=1)]
    planned = plan.plan({"now": data["now"], "records": records, "routine": []})
    return AnyObject.model_validate(
        {"actions": [action.model_dump(exclude={"because_of"}) for action in planned.actions]}
    )
