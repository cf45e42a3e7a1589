"""Every fault that was found in ElectroDB 3.9.3, in a line, and that each has its test in this folder."""

from __future__ import annotations

import ast
import re
from pathlib import Path

FAULTS = {
    "G01": "ids that differ in case are one key: a put overwrites",
    "G02": "a create of an id that differs in case only fails",
    "G03": "delimiters in values are not escaped: two identities share a key",
    "G04": "a value runs into the label of its part: different entities share a partition",
    "G05": "the name of an entity runs into its version",
    "G06": "the name of a service runs into a scope",
    "G07": "the names of services compare without case in keys",
    "G08": "keys take values of any type: null, [object object]",
    "G09": "parts of a key behind a gap are dropped in silence",
    "G10": "numbers sort as text: 10 < 100 < 9",
    "G11": "greater-than finds the bound itself, up-to misses it, because keys go on behind the part",
    "G12": "open ranges run on into the items of other entities",
    "G13": "a lower-cased prefix is no prefix of the lower-cased whole",
    "G14": "an index key is written with a partition half that lacks its value",
    "G15": "an index key is written with a sort half that lacks its value",
    "G16": "an update that creates an item leaves it out of its indexes",
    "G17": "an update creates items that lack required attributes",
    "G18": "an attribute that is an index field is set twice, which DynamoDB refuses",
    "G19": "an attribute that is an index field is stored in lower case",
    "G20": "an upsert applies the prefix of an index field twice",
    "G21": "undefined in a condition becomes an attribute name",
    "G22": "an OR in a condition is not put into parentheses",
    "G23": "an OR gets round the existence check of patch",
    "G24": "adding to a part of an index writes the operand into the key",
    "G25": "paths into lists are not validated",
    "G26": "values of composite() win over those that are set, in the condition of an index",
    "G27": "a clustered collection finds what begins with the value: Dane finds Danebury",
    "G28": "the name of a collection has no end: others that begin with it are read",
    "G29": "the sort parts of an isolated collection are ignored",
    "G30": "keys whose values hold delimiters cannot be read back",
    "G31": "keys whose values are empty, of several lines or of mixed case cannot be read back",
    "G32": "prefixes and bounds are padded like values",
    "G33": "one page is read by default",
    "G34": "the attribute option cast has no effect",
    "G35": "types are checked before setters, so that no setter converts",
    "G36": "a read-only attribute that watches all is frozen by an upsert",
    "G37": "an upsert overwrites what is stored by defaults",
    "G38": "a watcher is not told of a removal",
    "G39": "count beats pages",
    "G40": "a batch of ids that differ in case only is rejected",
    "G41": "version 2 of an entity does not see items of version 1",
    "G42": "the prefix of version 1 matches version 10",
    "G43": "an index without parts is never written",
    "G44": "the model object that is passed in is changed",
    "G45": "an empty set is sent, and rejected",
    "G46": "unknown attributes are dropped in silence",
    "G47": "the scan of a multi-attribute index is malformed",
    "G48": "between misses the longer keys of its upper bound",
    "G49": "the event of a request comes after its response",
    "G50": "exceptions of listeners are swallowed",
    "G51": "the condition of an index sees only what the operation names",
    "G52": "the condition of an index is not asked again when other attributes change",
    "G53": "all parts of an index are demanded before its condition is asked",
    "G54": "an optional part among several is all or nothing, or the put throws",
    "G55": "a removed part leaves the other half of the index key",
    "G56": "a part cannot be removed without the others of its half",
    "G57": "of two Mastra messages whose ids differ in case one is left",
    "G58": "chains are mutable: branches share filters",
    "G59": "validators are called with undefined for absent attributes",
    "G60": "an option of the entity is lost on secondary indexes",
    "G61": "a cursor is wrong when the key is not among the selected attributes",
}


def covered() -> set[str]:
    found: set[str] = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            name = re.match(r"test((?:_g\d\d)+)_", node.name) if isinstance(node, ast.FunctionDef) else None
            found |= {one.upper() for one in re.findall(r"g\d\d", name[1])} if name else set()
    return found


def test_every_fault_has_a_test():
    assert list(FAULTS) == [f"G{number:02}" for number in range(1, 62)]
    assert covered() == set(FAULTS)
