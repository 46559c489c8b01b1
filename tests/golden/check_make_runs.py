"""scripts/make_runs.py: what it makes of the published tables is what tests/measured has; numbers, words and errors of small
tables of its own.

usage: check_make_runs.py [TEST...] ROOT        CALC_UPDATE=1 rewrites the tables in tests/measured
"""
import csv
import gzip
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop()).resolve()
MEASURED = ROOT / "tests/measured"
SCRIPT = ROOT / "scripts/make_runs.py"

# A run of GPT-3 175B on 96 nodes. Machine, software and model are those of no table, but the kind of machine.
RUN = {
    "id": "house_1", "source": "House tables 7 (appendix)", "hardware": "A100-SXM4-80GB", "num_gpus": "768",
    "gpus_per_node": "8", "inter_node_net": "", "model": "gpt3-175b", "layers": "96", "hidden": "12288", "ffn": "49152",
    "heads": "96", "kv_heads": "96", "head_dim": "128", "vocab": "51200", "seq": "2048", "num_experts": "", "topk": "",
    "moe_ffn": "", "mla": "", "model_notes": "GELU, biases, tied embeddings", "dtype": "bf16", "global_batch": "1536",
    "micro_batch": "1", "tp": "8", "pp": "8", "vpp": "1", "dp": "12", "cp": "1", "ep": "1", "etp": "1",
    "sequence_parallel": "1", "zero_stage_fsdp": "1", "recompute": "none", "flash_attention": "1", "overlap": "none",
    "measured_iteration_s": "10", "measured_tokens_per_s_per_gpu": "", "measured_tflops_per_gpu": "", "tflops_counting": "",
    "measured_memory_gib": "", "memory_counting": "", "confidence": "high", "arguments": ""}


def table(*changes, columns=RUN):
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({**RUN, **change} for change in changes)
    return text.getvalue()


def script(*words, text=""):
    return subprocess.run([sys.executable, "-B", str(SCRIPT), *map(str, words)], input=text.encode(), capture_output=True,
                          timeout=60, check=False)


def rows_of(*changes):
    done = script("-", text=table(*changes))
    assert done.returncode == 0, done.stderr.decode()
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def row_of(**change):
    return rows_of(change)[0]


def content(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


class Published(unittest.TestCase):
    def test_tables(self):
        for published in sorted((MEASURED / "published").glob("*.csv*")):
            with self.subTest(published.name):
                made = script(published)
                self.assertEqual((made.returncode, made.stderr), (0, b""))
                path = MEASURED / published.name
                if os.environ.get("CALC_UPDATE") == "1" and (not path.exists() or content(path) != made.stdout):
                    script(published, "-o", path)
                self.assertTrue(content(path) == made.stdout,
                                f"{path} is not what {SCRIPT.name} makes of {published}; CALC_UPDATE=1 rewrites it")


class Numbers(unittest.TestCase):
    def test_time(self):
        self.assertEqual(row_of()["measured_s"], "10")
        rate = row_of(measured_iteration_s="", measured_tokens_per_s_per_gpu="400")
        self.assertEqual(float(rate["measured_s"]), 1536 * 2048 / (400 * 768))

    def test_rate(self):
        """6 FLOP per parameter of a matrix and 12 * layers * hidden * length, for each token (Chowdhery et al. 2022, appendix
        B); 8 and 16 with recomputation; half of the latter for what a causal token sees, its own place counted."""
        parameters = 96 * 12 * 12288**2 + 12288 * 51200
        square = 12 * 96 * 12288 * 2048
        for counting, recompute, flop in (("model FLOPs", "none", 6 * parameters + square),
                                          ("model FLOPs, causal", "none", 6 * parameters + square * 2049 / 4096),
                                          ("hardware FLOPs", "full", 8 * parameters + square * 4 / 3),
                                          ("hardware FLOPs", "none", 6 * parameters + square)):
            row = row_of(measured_iteration_s="", measured_tflops_per_gpu="140", tflops_counting=counting, recompute=recompute)
            self.assertAlmostEqual(float(row["measured_s"]) / (flop * 1536 * 2048 / (140e12 * 768)), 1, 12, counting)
        row = row_of(measured_iteration_s="", measured_tflops_per_gpu="140", tflops_counting="as usual")
        self.assertEqual(row["unpredicted"], "FLOP/s are printed, but not how they are counted")

    def test_batch(self):
        """1,530 sequences on 12 replicas are 127.5 micro-batches each: 128 take as much longer."""
        row = row_of(global_batch="1530")
        self.assertEqual((row["batch_size"], float(row["measured_s"])), ("1536", 10 * 1536 / 1530))
        self.assertIn("batch rounded up", row["assumed"])

    def test_network(self):
        for text, gbit in (("8x HDR IB 200 Gbps per node", "200"), ("4 x 100 Gb/s", "50"), ("400 Gb/s per GPU", "400"),
                           ("InfiniBand", "")):
            self.assertEqual(row_of(inter_node_net=text)["inter_node_gbit"], gbit, text)

    def test_stages(self):
        self.assertEqual(row_of(vpp="4")["pipeline_interleaving"], "4")
        self.assertEqual(row_of(layers="94", pp="8", vpp="3")["pipeline_balance"], "ends")  # 96 parts with embedding and head
        self.assertEqual(row_of(layers="93")["pipeline_balance"], "free")
        listed = row_of(overlap="num_layer_list=9,13,13,13,12,12,12,12")  # 75 between, on six alike: three more on the first
        self.assertEqual((listed["first_stage_blocks"], listed["last_stage_blocks"]), ("12", "12"))
        letters = row_of(layers="61", arguments="--pipeline-model-parallel-layout Et*3\\|(t*4\\|)*14t*2L")
        self.assertEqual((letters["stages"], letters["pipeline_interleaving"]), ("1x3,14x4,1x2", "2"))
        for layout in ("Et*3|t*4L", "E(t*4|", "t*61L", "Et*4|(t*4|)*13mt*5|L"):
            row = row_of(layers="61", arguments=f"--pipeline-model-parallel-layout {layout}")
            self.assertEqual(row["unpredicted"], "pipeline layout by letters, with parts of the ends as stages", layout)


class Words(unittest.TestCase):
    def test_spelling(self):
        for words in ("HybridEP", "hybrid-ep", "TP comm (off); hybrid_ep = true"):
            self.assertEqual(row_of(overlap=words)["dispatch_type"], "node_limited", words)

    def test_denial(self):
        for words, overlap in (("overlap_grad_reduce=true", "true"), ("overlap-grad-reduce: no", ""), ("no grad reduce", ""),
                               ("without DeepEP; grad-reduce", "true"), ("grad reduce, param gather all off", ""),
                               ("DeepEP (off) grad reduce", "true"), ("torch compile", "true")):
            row = rows_of({"overlap": words}, {"overlap": "grad reduce"})[0]
            self.assertEqual(row["data_par_overlap"], overlap, words)

    def test_numbers(self):
        row = row_of(recompute="full, block 3", zero_stage_fsdp="1")
        self.assertEqual((row["activation_recompute"], row["recompute_blocks"]), ("full", "3"))
        self.assertNotIn("recompute_blocks", row_of(recompute="full, block 12"))  # all of a stage
        self.assertEqual(row_of(overlap="wgrad deferral limit=0")["deferred_head_wgrad"], "-1")
        row = row_of(pp="1", dp="96", zero_stage_fsdp="ZeRO-3 within groups of 16")
        self.assertEqual((row["zero_stage"], row["fsdp_par"]), ("3", "16"))

    def test_sets(self):
        row = row_of(recompute="selective: moe_act, core-attn", num_experts="8", topk="2", moe_ffn="1024")
        self.assertEqual((row["activation_recompute"], row["recompute_modules"]), ("modules", "core_attn+moe_act"))
        offload = "--fine-grained-activation-offloading --offload-modules [moe_act core_attn] --swiglu"
        self.assertEqual(row_of(arguments=offload)["offload_modules"], "core_attn+moe_act")
        self.assertIn("offload of a part", row_of(arguments=offload.replace("core_attn", "router"))["unpredicted"])

    def test_unknown(self):
        done = script("-", text=table({}, {"overlap": "grad reduce; levitation"}))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.decode(), 'make_runs.py: -:3: overlap: "levitation" is not known, and not read\n')


class Rows(unittest.TestCase):
    def test_source(self):
        """Of one that is not known: what it calls itself, and no publisher."""
        row = row_of()
        self.assertEqual((row["source"], row["release"], row["publisher"], row["published"]),
                         ("House tables 7 (appendix)", "House tables 7", "", ""))
        row = row_of(id="nemo_25.09_x", source="NVIDIA NeMo performance summary 25.09 (table 1)")
        self.assertEqual((row["source"], row["publisher"], row["published"]), ("nemo", "nvidia", "2025-09"))

    def test_unpredicted(self):
        for change, reason in (({"hardware": "TPU v5p"}, "no description of this machine"),
                               ({"global_batch": ""}, "global batch not published"),
                               ({"global_batch": "11"}, "global batch smaller than data parallelism times micro-batch"),
                               ({"num_gpus": "100"}, "the parallel sizes do not divide the number of GPUs"),
                               ({"micro_batch": ""}, "micro-batch not published"),
                               ({"measured_iteration_s": ""}, "no measured time or memory")):
            rows = rows_of(change, {})
            self.assertEqual((rows[0]["unpredicted"], rows[1]["unpredicted"]), (reason, ""))
            self.assertEqual({rows[0][name] for name in ("assumed", "procs", "hidden", "tensor_par")}, {""})

    def test_searched(self):
        row = row_of(id="mlm_sc21_tab1_x", micro_batch="")
        self.assertNotIn("microbatch_size", row)
        self.assertIn("the fastest predicted", row["assumed"])

    def test_memory(self):
        row = row_of(measured_memory_gib="55.50", memory_counting="max_memory_allocated of the last-rank")
        self.assertEqual((row["measured_mem_gib"], row["memory_counting"]), ("55.5", "allocated+last_rank"))

    def test_unmodelled(self):
        row = row_of(arguments="--transformer-impl local --swiglu --moe-grouped-gemm --tp 1", dtype="fp8 (rowwise)")
        self.assertEqual(row["unmodelled"], "--moe-grouped-gemm --transformer-impl local fp8 (rowwise)")


class Files(unittest.TestCase):
    def fails(self, says, *words, text=""):
        done = script(*words, text=text)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr.decode(), f"make_runs.py: {says}\n")

    def test_bad(self):
        columns = [name for name in RUN if name not in ("layers", "vpp")]
        self.fails("-:1: columns are missing: vpp, layers", "-", text=table({}, columns=columns))
        self.fails("-:1: columns are there twice: tp", "-", text=table({}, columns=[*RUN, "tp"]))
        self.fails(f"-:2: 2 cells, where the first row has {len(RUN)}", "-", text=table() + "a,b\r\n")
        self.fails("-: it has no rows", "-", text=table())
        self.fails("-: it has no rows", "-")
        self.fails(f"{MEASURED}/nothing.csv: No such file or directory", MEASURED / "nothing.csv")
        self.fails("/nowhere/out.csv: No such file or directory", "-", "-o", "/nowhere/out.csv", text=table({}))

    def test_bad_numbers(self):
        hint = ": leave it blank if it is not known"
        for name, text, kind in (("tp", "eight", "a whole number from 1"), ("tp", "0", "a whole number from 1"),
                                 ("ffn", "-1", "a whole number from 0"), ("layers", "1.5", "a whole number from 1"),
                                 ("num_gpus", "1e10", "a whole number from 1"), ("mla", "nan", "a number from 0"),
                                 ("measured_iteration_s", "0", "a number from 1e-06"),
                                 ("hidden", "0x10", "a whole number from 1")):
            self.fails(f'-:3: {name}: expected {kind} to 1e9, found "{text}"{hint}', "-", text=table({}, {name: text}))

    def test_lines(self):
        """A cell that has a line break, and a blank line."""
        text = table({"source": "two\nlines"}).rstrip() + "\n\n" + table({"tp": "x"}).split("\n", 1)[1]
        self.assertIn(b"make_runs.py: -:5: tp", script("-", text=text).stderr)

    def test_written(self):
        with tempfile.TemporaryDirectory() as folder:
            plain, packed = pathlib.Path(folder, "out.csv"), pathlib.Path(folder, "out.csv.gz")
            for path in (plain, packed):
                self.assertEqual(script("-", "-o", path, text=table({})).returncode, 0)
            self.assertEqual(content(plain), content(packed))
            self.assertNotIn(b"\r", content(plain))
            broken = pathlib.Path(folder, "broken.csv.gz")
            broken.write_bytes(packed.read_bytes()[:40])
            self.assertEqual(script(broken).returncode, 2)

    def test_help(self):
        shown = script("--help").stdout.decode()
        self.assertIn("scripts/make_runs.py tests/measured/published/runs.csv -o tests/measured/runs.csv", shown)


if __name__ == "__main__":
    unittest.main()
