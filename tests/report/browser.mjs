// Headless Chromium over its debugging pipe: no packages, no network, no port.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/* @param live  false: without WebAssembly, so that pages stay as they were written */
export async function open(chromium, live = true) {
  const profile = mkdtempSync(join(tmpdir(), "calc-report-"));
  const process = spawn(chromium, ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const [, , , down, up] = process.stdio;
  const waiting = new Map();
  const listeners = [];
  let number = 0;
  let rest = "";
  up.on("data", (bytes) => {
    const parts = (rest + bytes).split("\0");
    rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      if (message.id) {
        const { resolve, reject } = waiting.get(message.id);
        waiting.delete(message.id);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
      } else {
        for (const listener of listeners) listener(message);
      }
    }
  });
  const raw = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
    number += 1;
    waiting.set(number, { resolve, reject });
    down.write(`${JSON.stringify({ id: number, method, params, sessionId })}\0`);
  });
  const { targetId } = await raw("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await raw("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => raw(method, params, sessionId);
  const complaints = [];
  const requests = [];
  listeners.push(({ method, params }) => {
    if (method === "Runtime.exceptionThrown") {
      complaints.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    } else if (method === "Runtime.consoleAPICalled") {
      complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
    } else if (method === "Log.entryAdded") {
      complaints.push(params.entry.text);
    } else if (method === "Network.requestWillBeSent" && !params.request.url.startsWith("data:")) {
      requests.push(params.request.url);
    }
  });
  for (const domain of ["Runtime", "Log", "Network", "Page"]) await send(`${domain}.enable`);
  if (!live) await send("Page.addScriptToEvaluateOnNewDocument", { source: "delete globalThis.WebAssembly;" });
  const evaluate = async (expression) => {
    const answer = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (answer.exceptionDetails) {
      throw new Error(`${expression}: ${answer.exceptionDetails.exception?.description}`);
    }
    return answer.result.value;
  };
  /* What an expression has become that is true: of a page that loads, scrolls or computes. After two minutes what it is.
   * A page that goes away while it is asked is asked again. */
  const until = async (expression) => {
    let value = null;
    for (const last = Date.now() + 120000; !value && Date.now() < last;) {
      value = await evaluate(expression).catch((error) => { if (!/navigated|context/.test(error.message)) throw error; });
      if (!value) await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
    return value;
  };
  return {
    complaints,
    requests,
    evaluate,
    until,
    send,
    /* Show a file in a window of that width; wait until it says that it is ready. */
    async show(file, width, scheme = "light") {
      /* Nothing of the page before may answer for this one. */
      await send("Page.navigate", { url: "about:blank" });
      complaints.length = 0;
      requests.length = 0;
      await send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
      await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
      await send("Page.navigate", { url: `file://${file}` });
      return until(`location.href === ${JSON.stringify(`file://${file}`)} && document.documentElement?.dataset.ready === "yes"`);
    },
    async screenshot() {
      const height = await evaluate("document.documentElement.scrollHeight");
      const width = await evaluate("innerWidth");
      const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: true,
        clip: { x: 0, y: 0, width, height: Math.min(height, 12000), scale: 1 } });
      return Buffer.from(data, "base64");
    },
    async close() {
      const gone = new Promise((resolve) => { process.on("exit", resolve); });
      raw("Browser.close");
      await gone;
      /* Its processes write to the profile until all of them are gone. */
      for (let tries = 0; tries < 100 && existsSync(profile); tries++) {
        try {
          rmSync(profile, { recursive: true, force: true });
        } catch (failure) {
          await new Promise((resolve) => { setTimeout(resolve, 100); });
        }
      }
    },
  };
}
