"""Drives every instance of one driver folder through the protocol.

    smoke_test.py BUILD_DIR FOLDER

Asks for hello, the empty GGUF file, a file of one tensor and one with a wrong
magic: every reader here accepts the first two and all but one refuse the third. Where
the instance offers more, one tensor is read and one row quantized. Exit
status 77 (NOT RUN) if the folder is not installed.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import registry

NOT_RUN = 77
# It compares the magic with the lower-case spelling only.
ACCEPTS_WRONG_MAGIC = {"ollama/gguf"}
TENSOR = struct.pack("<8f", *range(8))


def text(value):
    return struct.pack("<Q", len(value)) + value


def empty():
    return b"GGUF" + struct.pack("<IQQ", 3, 0, 0)


def one_tensor():
    head = (b"GGUF" + struct.pack("<IQQ", 3, 1, 1)
            + text(b"general.name") + struct.pack("<I", 8) + text(b"x")
            + text(b"t") + struct.pack("<IQIQ", 1, 8, 0, 0))
    return head + bytes(-len(head) % 32) + TENSOR


def ask(folder, instance, requests):
    """The answers, in order; a driver that dies or hangs is an error."""
    lines = "".join(json.dumps({"id": i, **request}) + "\n"
                    for i, request in enumerate(requests))
    done = subprocess.run(
        folder.command(instance), input=lines, capture_output=True, text=True,
        env=folder.environment(instance), timeout=120, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    ids = [answer["id"] for answer in answers]
    assert done.returncode == 0 and ids == list(range(len(requests))), (
        f"exit {done.returncode}, answered {ids}\n{done.stderr}")
    return answers


def check_parse(folder, instance, reads_tensors, scratch):
    files = []
    for name, data in (("E", empty()), ("O", one_tensor()),
                       ("B", b"GGUX" + one_tensor()[4:])):
        files.append(str(scratch / f"{name}.gguf"))
        pathlib.Path(files[-1]).write_bytes(data)
    answers = ask(folder, instance,
                  [{"op": "gguf.parse", "file": file} for file in files])
    verdicts = [answer["verdict"] for answer in answers]
    other = instance["name"] in ACCEPTS_WRONG_MAGIC
    wrong_magic = "accept" if other else "reject"
    assert verdicts == ["accept", "accept", wrong_magic], answers
    kv = answers[1].get("dump", {}).get("kv")
    if kv is not None:
        assert [(entry["key"], entry["value"]) for entry in kv] == [
            ("general.name", "x")], kv
    if reads_tensors:
        (answer,) = ask(folder, instance, [
            {"op": "gguf.tensor", "file": files[1], "index": 0}])
        assert int(answer["size"]) == len(TENSOR), answer
        assert answer["crc32"] == zlib.crc32(TENSOR), answer


def check_quantize(folder, instance):
    """127 and zeros: every quantizer known gives the same block."""
    x = struct.pack("<32f", 127, *[0] * 31).hex()
    (answer,) = ask(folder, instance, [
        {"op": "q8_0.quantize", "x": {"hex": x}, "n": 32, "rows": 1}])
    if answer["status"] == "not-run":
        print(f"NOT RUN: {instance['name']}: {answer['why']}")
        return
    assert answer["y"]["hex"] == "003c7f" + "00" * 31, answer


def check_instance(folder, instance, scratch):
    hello, unknown = ask(folder, instance, [
        {"op": "hello", "protocol": 1}, {"op": "no.such.operation"}])
    assert hello["protocol"] == 1, hello
    assert hello["name"] == instance["name"], hello
    assert hello["version"] == folder.data["version"], hello
    assert unknown["status"] == "not-implemented", unknown
    operations = hello["operations"]
    assert operations, hello
    if "gguf.parse" in operations:
        check_parse(folder, instance, "gguf.tensor" in operations, scratch)
    if "q8_0.quantize" in operations:
        check_quantize(folder, instance)


def main():
    build, name = sys.argv[1:]
    folder = registry.Folder(name, build)
    why = folder.why_not()
    if why is not None:
        print(f"NOT RUN: {name}: {why}")
        return NOT_RUN
    for instance in folder.instances():
        with tempfile.TemporaryDirectory() as scratch:
            check_instance(folder, instance, pathlib.Path(scratch))
        print(f"{instance['name']}: answers")
    return 0


sys.exit(main())
