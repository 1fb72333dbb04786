"""The form of `desktop.py` by Qt 5: it prints what it receives, a line each."""

import sys

from PyQt5.QtCore import QSocketNotifier, Qt, QTimer
from PyQt5.QtWidgets import (
    QAction, QApplication, QCheckBox, QComboBox, QFormLayout, QLabel, QLineEdit, QListWidget, QMainWindow, QPlainTextEdit,
    QPushButton, QRadioButton, QSlider, QSpinBox, QTabWidget, QWidget,
)


def say(*words):
    print(*words, flush=True)


def form(window):
    page = QWidget()
    outer = QFormLayout(page)
    file = window.menuBar().addMenu("File")
    for title in ("Save as…", "Print"):
        action = QAction(title, window)
        action.triggered.connect(lambda _, title=title: say("menu", title))
        action.setEnabled(title != "Print")
        file.addAction(action)
    ruler = QAction("Ruler", window)
    ruler.setCheckable(True)
    ruler.toggled.connect(lambda it: say("menu Ruler", it))
    window.menuBar().addMenu("View").addAction(ruler)
    name, secret, fixed = QLineEdit(), QLineEdit(), QLineEdit()
    name.textChanged.connect(lambda it: say("name", it))
    secret.setEchoMode(QLineEdit.Password)
    secret.setText("hunter2-secret")
    secret.textChanged.connect(lambda _: say("secret changed"))
    fixed.setText("cannot change")
    fixed.setReadOnly(True)
    agree = QCheckBox("Agree")
    agree.toggled.connect(lambda it: say("agree", it))
    radio = QRadioButton("Loud")
    radio.toggled.connect(lambda it: say("loud", it))
    level = QSlider(Qt.Horizontal)
    level.setRange(0, 100)
    level.valueChanged.connect(lambda it: say("level", float(it)))
    count = QSpinBox()
    count.valueChanged.connect(lambda it: say("count", it))
    layout = QComboBox()
    layout.addItems(["Portrait", "Landscape"])
    layout.currentTextChanged.connect(lambda it: say("layout", it))
    listed = QListWidget()
    listed.addItems(["One", "Two"])
    listed.itemSelectionChanged.connect(lambda: say("row", *(it.text() for it in listed.selectedItems())))
    listed.setMaximumHeight(60)
    status = QLabel("Not saved")
    save, off = QPushButton("Save"), QPushButton("Off")
    save.clicked.connect(lambda: (say("pressed save"), status.setText("Saved")))
    off.setEnabled(False)
    notes = QPlainTextEdit()
    notes.setAccessibleName("Notes")
    notes.setMaximumHeight(60)
    notes.textChanged.connect(lambda: say("notes", notes.toPlainText()))
    tabs = QTabWidget()
    for title in ("General", "Colors"):
        tabs.addTab(QLabel(f"The page {title}"), title)
    tabs.currentChanged.connect(lambda it: say("page", it))
    tabs.setMaximumHeight(60)
    for title, field in (("Name", name), ("Password", secret), ("Fixed", fixed), ("Level", level), ("Count", count),
                         ("Layout", layout), ("Numbers", listed)):
        outer.addRow(title, field)
    for widget in (agree, radio, save, off, status, notes, tabs):
        outer.addRow(widget)
    window.setCentralWidget(page)


def told():
    line = sys.stdin.readline()
    if not line:
        app.quit()
        return
    QTimer.singleShot(0, lambda: say("done"))


app = QApplication(sys.argv[:1])
window = QMainWindow()
window.setWindowTitle(sys.argv[2])
window.resize(600, 600)
form(window)
window.show()
input = QSocketNotifier(0, QSocketNotifier.Read)
input.activated.connect(told)
QTimer.singleShot(0, lambda: say("ready"))
app.exec()
