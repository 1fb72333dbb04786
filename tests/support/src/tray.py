"""A status icon with a menu for tests, and what keeps the list of such icons: it prints what it receives, a line each."""

import shutil
import subprocess
import sys

from gi.repository import Gio, GLib

NAME, TITLE, MARK = sys.argv[1:4]
if len(sys.argv) > 4:
    # A child whose program has this path, which ends with this program.
    shutil.copy("/bin/cat", sys.argv[4])
    child = subprocess.Popen([sys.argv[4]], stdin=subprocess.PIPE)
WATCHER = "org.kde.StatusNotifierWatcher"
XML = """<node>
<interface name="org.kde.StatusNotifierWatcher">
<property name="RegisteredStatusNotifierItems" type="as" access="read"/></interface>
<interface name="org.kde.StatusNotifierItem">
<property name="Id" type="s" access="read"/><property name="Title" type="s" access="read"/>
<property name="Status" type="s" access="read"/><property name="IconName" type="s" access="read"/>
<property name="Menu" type="o" access="read"/>
<method name="Activate"><arg type="i" direction="in"/><arg type="i" direction="in"/></method></interface>
<interface name="com.canonical.dbusmenu">
<method name="GetLayout"><arg type="i" direction="in"/><arg type="i" direction="in"/><arg type="as" direction="in"/>
<arg type="u" direction="out"/><arg type="(ia{sv}av)" direction="out"/></method>
<method name="AboutToShow"><arg type="i" direction="in"/><arg type="b" direction="out"/></method>
<method name="Event"><arg type="i" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="in"/>
<arg type="u" direction="in"/></method></interface></node>"""
state = {"Status": "Passive", "online": 0, "filled": False}


def entry(number, label, below=(), **more):
    words = {"toggle_type": "toggle-type", "toggle_state": "toggle-state", "children": "children-display"}
    facts = {"label": GLib.Variant("s", label)} if label else {}
    for name, value in more.items():
        kind = {bool: "b", int: "i", str: "s"}[type(value)]
        facts[words.get(name, name)] = GLib.Variant(kind, value)
    return GLib.Variant("(ia{sv}av)", (number, facts, list(below)))


def layout():
    profiles = [entry(4, "Work"), entry(5, "Home", enabled=False)] if state["filled"] else []
    return entry(0, "", [
        entry(1, "_Online" + MARK, toggle_type="checkmark", toggle_state=state["online"]),
        entry(2, "", type="separator"),
        entry(3, "Profiles", profiles, children="submenu"),
        entry(6, "Rename\u2026"),
        entry(7, "Stubborn", toggle_type="checkmark", toggle_state=0),
        entry(8, "Silent"),
        entry(9, "Hidden", visible=False),
        entry(10, "Twice"), entry(11, "Twice"),
        entry(12, "Quit"),
    ])


def chosen(number):
    if number == 1:
        state["online"] = 1 - state["online"]
    if number == 6:
        state["Status"] = "NeedsAttention"
    if number == 12:
        loop.quit()


def call(bus, sender, path, interface, method, values, invocation):
    if method == "Activate":
        print("activated", flush=True)
        state["Status"] = "Active"
        invocation.return_value(None)
    elif method == "GetLayout":
        invocation.return_value(GLib.Variant.new_tuple(GLib.Variant("u", 1), layout()))
    elif method == "AboutToShow":
        state["filled"] = state["filled"] or values.unpack()[0] == 3
        invocation.return_value(GLib.Variant("(b)", (True,)))
    else:
        number, event = values.unpack()[:2]
        print(event, number, flush=True)
        invocation.return_value(None)
        chosen(number)


def read(bus, sender, path, interface, name):
    if interface == WATCHER:
        # One by its connection, as programs are listed; one that is gone; one that is no name.
        listed = [bus.get_unique_name() + "/StatusNotifierItem", ":1.9999", "no name/at/all"]
        return GLib.Variant("as", listed)
    values = {"Id": NAME, "Title": TITLE, "Status": state["Status"], "IconName": "icon"}
    return GLib.Variant("o", "/Menu") if name == "Menu" else GLib.Variant("s", values[name])


loop = GLib.MainLoop()
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
watcher, item, menu = Gio.DBusNodeInfo.new_for_xml(XML).interfaces
bus.register_object("/StatusNotifierWatcher", watcher, None, read, None)
bus.register_object("/StatusNotifierItem", item, call, read, None)
bus.register_object("/Menu", menu, call, None, None)
Gio.bus_own_name_on_connection(bus, WATCHER, 0, lambda *_: print(bus.get_unique_name(), flush=True), None)
loop.run()
