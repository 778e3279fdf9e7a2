"""What a model puts where a fact belongs: refusals, remarks about the talk, placeholders, its own instructions."""

import re

_OF_TALK = r"(?:memor(?:y|ies)|facts?|information|info|details|preferences)\b"
_REFUSAL = re.compile(
    r"^(?:i['’]?m sorry|sorry\b|i['’]?m (?:unable|not able)\b|i (?:can(?:no|['’])t|am (?:unable|not able))\b"
    r"|i (?:do not|don['’]t) have\b|as an? (?:ai|(?:large )?language model)\b"
    r"|no(?: [\w-]+){0,3} (?:memor(?:y|ies)|facts?)\b"
    r"|no (?:relevant|new|notable|significant|useful|specific|additional|important|long.?term) " + _OF_TALK + r"|"
    r"nothing\b[^,.;]{0,20}\b(?:worth|to) (?:remember|memor|extract|keep|stor|sav|record|not)"
    r"|(?:none|n/?a|null|empty)\W*$"
    r"|there (?:is|are|was|were) (?:nothing to|no\b[^,.;]{0,30}" + _OF_TALK + r")"
    r"|(?:the |this )?(?:conversation|dialogue|chat|transcript|session) (?:(?:contains?|includes?|has|had|provides?"
    r"|reveals?) no\b|(?:does|did)(?: not|n['’]t))[^,.;]{0,60}" + _OF_TALK + r"|"
    r"抱歉|对不起，?我|很遗憾|作为(?:一个|一名)?(?:AI|人工智能|(?:大)?语言模型)|我(?:无法|不能|没法)(?:提取|处理|提供|协助)"
    r"|(?:没有|无)(?:值得|需要|可以|可)?(?:长期)?(?:记忆(?![力障])|记住|提取|记录)|(?:暂?无|没有|空)\W*$"
    r"|(?:本次|该|这段|此|以上)?(?:对话|会话|聊天)(?:记录|内容)?(?:中|里|内)?(?:并)?(?:没有|无|未|不包含|不含)[^，,]{0,12}"
    r"(?:记忆|记住|信息|事实|内容|提取)"
    r"|(?:未|没有?|并未)(?:发现|找到|提取到?|检测到|识别到?)[^，,]{0,10}(?:记忆|信息|事实|内容)"
    r"|暂?无(?:任何|相关|有效|可用|可提取|新的?)[^，,]{0,8}(?:信息|记忆|内容|事实))",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[<\[{(（【]?\s*(?:content|string|text|sentence|memory|fact|placeholder|example|your \w+ here"
    r"|内容|句子|文本|事实|记忆|示例)\s*[>\]})）】]?",
    re.IGNORECASE,
)
_OF_ASSISTANT = re.compile(
    r"^(?:the )?(?:ai )?assistant(?:['’]s\b"
    r"| (?:recommend|suggest|sa(?:id|ys)|told|ask|provid|offer|mention|acknowledg|respond|answer|explain|confirm|prefer"
    r"|likes?\b|is\b|was\b|will\b|can\b|does\b|doesn['’]t|did\b|gave\b))"
    r"|^(?:AI|智能|人工智能)?助(?:手|理)(?:推荐|建议|认为|表示|说|回答|回复|提供|告诉|询问|确认|喜欢|偏好|不吃|是)"
    r"|^(?:语言)?模型(?:推荐|建议|认为|表示|说|回答|回复|提供|告诉)",
    re.IGNORECASE,
)
_LEAST_LEAKED = 12
"""Shorter pieces of the instructions are words that everybody uses."""


def is_refusal(content: str) -> bool:
    """Tell whether a sentence says that there is nothing to say, or that its author cannot."""
    return bool(_REFUSAL.search(content))


def is_placeholder(content: str) -> bool:
    """Tell whether a sentence is none: signs only, or the name of the field it stands in."""
    return not any(letter.isalnum() for letter in content) or bool(_PLACEHOLDER.fullmatch(content))


def is_of_assistant(content: str) -> bool:
    """Tell whether a sentence tells what the assistant is, said or did. A user's own assistant is somebody's."""
    return bool(_OF_ASSISTANT.search(content))


def is_leaked(content: str, instructions: str) -> bool:
    """Tell whether a sentence is a piece of the instructions, word for word."""
    return len(content) >= _LEAST_LEAKED and _plain(content) in _plain(instructions)


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("[[new]]", " ").split()).rstrip(".。")
