"""The form of `desktop.py` by GTK 4: it prints what it receives, a line each."""

import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402


def say(*words):
    print(*words, flush=True)


def label_as(widget, name):
    widget.update_property([Gtk.AccessibleProperty.LABEL], [name])


def form(window):
    outer = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    actions = Gio.SimpleActionGroup()
    for name, title in (("save", "Save as…"), ("print", "Print")):
        action = Gio.SimpleAction.new(name, None)
        action.connect("activate", lambda *_, title=title: say("menu", title))
        action.set_enabled(name != "print")
        actions.add_action(action)
    window.insert_action_group("form", actions)
    menu, bar = Gio.Menu(), Gio.Menu()
    menu.append("Save as…", "form.save")
    menu.append("Print", "form.print")
    bar.append_submenu("File", menu)
    name, secret, fixed = Gtk.Entry(), Gtk.PasswordEntry(), Gtk.Entry()
    caption = Gtk.Label(label="Name")
    name.update_relation([Gtk.AccessibleRelation.LABELLED_BY], [Gtk.AccessibleList.new_from_list([caption])]) if hasattr(
        Gtk, "AccessibleList"
    ) else label_as(name, "Name")
    name.connect("changed", lambda it: say("name", it.get_text()))
    label_as(secret, "Password")
    secret.set_text("hunter2-secret")
    secret.connect("changed", lambda it: say("secret changed"))
    label_as(fixed, "Fixed")
    fixed.set_text("cannot change")
    fixed.set_editable(False)
    pin = Gtk.Entry()
    pin.set_visibility(False)
    label_as(pin, "Pin")
    pin.set_text("hunter2-pin")
    pin.connect("changed", lambda it: say("secret changed"))
    agree = Gtk.CheckButton(label="Agree")
    agree.connect("toggled", lambda it: say("agree", it.get_active()))
    switch = Gtk.Switch()
    label_as(switch, "Loud")
    switch.connect("notify::active", lambda it, _: say("loud", it.get_active()))
    level = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
    label_as(level, "Level")
    level.connect("value-changed", lambda it: say("level", it.get_value()))
    layout = Gtk.DropDown.new_from_strings(["Portrait", "Landscape"])
    label_as(layout, "Layout")
    layout.connect("notify::selected", lambda it, _: say("layout", it.get_selected_item().get_string()))
    old = Gtk.ComboBoxText()
    for item in ("Portrait", "Landscape"):
        old.append_text(item)
    old.set_active(0)
    label_as(old, "Old layout")
    old.connect("changed", lambda it: say("old layout", it.get_active_text()))
    listed = Gtk.ListBox()
    for item in ("One", "Two"):
        listed.append(Gtk.Label(label=item))
    listed.connect("row-selected", lambda _, it: it and say("row", it.get_child().get_text()))
    status = Gtk.Label(label="Not saved")
    save, off = Gtk.Button(label="Save"), Gtk.Button(label="Off")
    save.connect("clicked", lambda _: (say("pressed save"), status.set_text("Saved")))
    off.set_sensitive(False)
    notes = Gtk.TextView()
    label_as(notes, "Notes")
    scrolled = Gtk.ScrolledWindow()
    scrolled.set_min_content_height(60)
    scrolled.set_overlay_scrolling(False)
    scrolled.set_child(notes)
    notes.get_buffer().set_text("first line")
    notes.get_buffer().connect("changed", lambda it: say("notes", it.get_text(*it.get_bounds(), True)))
    more = Gtk.Expander(label="More")
    more.set_child(Gtk.Label(label="Unfolded"))
    for widget in (Gtk.PopoverMenuBar.new_from_model(bar), caption, name, secret, pin, fixed, agree, switch, level, layout,
                   old, listed, save, off, status, scrolled, more):
        outer.append(widget)
    window.set_child(outer)


def told(stream, _):
    line = stream.readline()
    if not line:
        loop.quit()
        return False
    GLib.idle_add(lambda: say("done") or False, priority=GLib.PRIORITY_LOW)
    return True


Gtk.init()
loop = GLib.MainLoop()
window = Gtk.Window(title=sys.argv[2])
window.set_default_size(600, 500)
form(window)
window.connect("close-request", lambda _: loop.quit() or False)
window.present()
GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, told)
GLib.idle_add(lambda: say("ready") or False, priority=GLib.PRIORITY_LOW)
loop.run()
