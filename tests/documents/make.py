"""Makes the documents of this folder with python-docx, openpyxl and reportlab (pip install python-docx openpyxl reportlab)."""

import datetime
from pathlib import Path

import docx
import openpyxl
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

HERE = Path(__file__).parent

page = canvas.Canvas(str(HERE / "sample.pdf"), pagesize=A4, invariant=1)
page.setFont("Helvetica-Bold", 18)
page.drawString(72, 770, "Quarterly report")
page.setFont("Times-Roman", 11)
page.drawString(72, 740, "The first page has two lines of text.")
page.drawString(72, 724, "Umlauts: Größe, café; a ligature-free word: office.")
page.showPage()
page.setFont("Courier", 11)
page.drawString(72, 770, "Total: 1,234.56 EUR")
page.showPage()
page.save()

locked = canvas.Canvas(str(HERE / "locked.pdf"), pagesize=A4, invariant=1, encrypt="secret")
locked.drawString(72, 770, "Nobody reads this.")
locked.save()

text = docx.Document()
text.add_heading("Design notes", 0)
text.add_heading("Goals & limits", 1)
text.add_paragraph("Fast, small, \u201cquoted\u201d <angle> text.")
text.add_paragraph("First point", style="List Bullet")
table = text.add_table(rows=2, cols=2)
for row, cells in enumerate([("name", "size"), ("a.txt", "12")]):
    for column, cell in enumerate(cells):
        table.cell(row, column).text = cell
text.add_paragraph("After the table.\tWith a tab.")
text.save(HERE / "sample.docx")

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Sales"
sheet.append(["item", "date", "amount", "paid"])
sheet.append(["chair & desk", datetime.date(2025, 3, 15), 12.5, True])
sheet["A4"] = "total"
sheet["C4"] = "=SUM(C2:C3)"
second = book.create_sheet("Notes")
second["B2"] = "line one\nline two"
book.save(HERE / "sample.xlsx")
