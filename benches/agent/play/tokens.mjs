// Counts tokens as GPT-4o and its successors do (o200k): a line of JSON with a text in, a line with a number out.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { countTokens } = createRequire(`${process.argv[2]}/`)("gpt-tokenizer/cjs/encoding/o200k_base");
for await (const line of createInterface({ input: process.stdin })) {
  console.log(countTokens(JSON.parse(line), { allowedSpecial: "all" }));
}
