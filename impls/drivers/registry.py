"""driver.json of the folders here, with its placeholders filled in."""

import json
import os
import pathlib

DRIVERS = pathlib.Path(__file__).resolve().parent
SOURCE = DRIVERS.parent.parent


class Folder:
    """One driver folder, seen from one build directory."""

    def __init__(self, name, build):
        self.name = name
        self.path = DRIVERS / name
        self.data = json.loads((self.path / "driver.json").read_text())
        build = pathlib.Path(build).resolve()
        self.installed = self._installed(build)
        self._places = {
            "source": SOURCE, "build": build, "bin": build / "bin",
            "lib": build / "lib", "driver": self.path,
            "installed": self.installed}

    def _installed(self, build):
        """A build inside another one uses what that one installed."""
        places = [build / "drivers", build.parent / "drivers"]
        if "WEIGHTPROOF_DRIVERS" in os.environ:
            places = [pathlib.Path(os.environ["WEIGHTPROOF_DRIVERS"])]
        for place in places:
            if (place / self.name / "stamp").exists():
                return place / self.name
        return places[0] / self.name

    def fill(self, text):
        for name, place in self._places.items():
            text = text.replace("{" + name + "}", str(place))
        return text

    def why_not(self):
        """Why nothing of this folder can be run, or None."""
        if not (self.installed / "stamp").exists():
            try:
                why = json.loads((self.installed / "STATUS.json").read_text())
                return why["why"]
            except (OSError, ValueError):
                return f"not installed in {self.installed}"
        for path in self.data["requires"]:
            if not os.path.exists(self.fill(path)):
                return f"missing {self.fill(path)}"
        return None

    def instances(self):
        return self.data["instances"]

    def command(self, instance):
        return [self.fill(word) for word in instance["command"]]

    def environment(self, instance):
        values = {**self.data["env"], **instance.get("env", {})}
        return {name: self.fill(text) for name, text in values.items()}


def folder_names():
    return sorted(path.parent.name for path in DRIVERS.glob("*/driver.json"))
