#!/usr/bin/env python3
"""Turns a published table of training runs, in the words of its publishers, into the one that `calc validate` reads.

TABLE has numbers as they were printed, blank where none was, and the free words of publications. The result has each run's
application and execution in calc's fields, its machine and what was measured, what had to be assumed, and why a run cannot be
predicted. What depends on who published a run or on how it is said is in scripts/published.py."""
import argparse
import bisect
import csv
import fnmatch
import functools
import gzip
import io
import itertools
import math
import re
import sys
import textwrap
import zlib
from types import SimpleNamespace

import published as known

# ---- What is written -------------------------------------------------------------------------------------------------------

HEAD = ("id source publisher published release sys family model confidence measured_s measured_mem_gib memory_counting outcome "
        "unpredicted assumed unmodelled procs inter_node_gbit").split()
# Fields of calc's applications and executions, in the order of its tables; a column is written if a row has a value.
FIELDS = """
    hidden feedforward seq_size attn_heads attn_size num_blocks ffn_type norm_type position_type bias dropout tied_embeddings
    causal window_size global_every kv_heads qk_norm q_lora_rank kv_lora_rank qk_nope_size qk_rope_size v_size vocab_size
    vocab_multiple num_experts experts_per_token expert_feedforward shared_feedforward dense_blocks mtp_blocks

    tensor_par pipeline_par data_par batch_size microbatch_size datatype fused_activation attention_type activation_recompute
    pipeline_interleaving optimizer_sharding tensor_par_comm_type tensor_par_overlap seq_par_ag_redo data_par_overlap training
    flash_attention attention_kernel rank_order context_par context_par_type expert_par expert_tensor_par dispatch_type
    expert_par_overlap delayed_wgrad pipeline_balance first_stage_blocks last_stage_blocks deferred_head_wgrad
    pipeline_par_overlap zero_stage fsdp_par param_gather_overlap param_gather_datatype optimizer_shards memory_model
    matrix_datatype attention_datatype weight_datatype activation_datatype grad_datatype grad_reduce_datatype optimizer scaling
    offload_modules recompute_modules recompute_blocks recompute_early_stop fused_cross_entropy unfused_rope unfused_norm eager unfused_experts fused_experts
    cuda_graph launch_blocking framework_mem stages""".split()
QUALIFIED = {"seq_size": "app.seq_size"}  # both documents have it
MOST_PLACES, MOST_RUNS = 128, 48  # of a list of stages: stages times chunks, and runs of equal ones
GRAPHED_ATTENTION, GRAPHED_ROUTER = 0.7, 0.2  # shares of a block's kernels that graphs of its parts launch


class Unpredicted(Exception):
    """Why a run cannot be predicted."""


class BadTable(Exception):
    """What is wrong with a table, and where."""


# ---- Numbers and texts -----------------------------------------------------------------------------------------------------


def whole(number):
    return int(number + 0.5)


def or_blank(number, blank):
    return blank if math.isnan(number) else number


def size_of(number):
    """A parallel size: blank and 0 are 1."""
    return whole(min(number, 1e6)) if number > 1 else 1


def leading_whole(text):
    match = re.match(r"\s*[+-]?[0-9]{1,18}", text)
    return int(match[0]) if match else 0


def leading_number(text):
    match = re.match(r"\s*[+-]?([0-9]{1,40}\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text)
    return float(match[0]) if match else 0.0


def number_text(number):
    """The shortest text of 15 to 17 digits that reads back."""
    if number == int(number) and abs(number) < 2**53:
        return str(int(number))
    return next(text for digits in (15, 16, 17) if float(text := f"{number:.{digits}g}") == number)


def contains(text, part):
    """Letters large or small."""
    return part.lower() in text.lower()


def first(table, row, group):
    """The values of a table with conditions: of its first row that fits."""
    return next(values for only, columns, part, *values in table if only in ("", group)
                and any(contains(getattr(row, column), part) for column in columns.split()))


# ---- Free words ------------------------------------------------------------------------------------------------------------

PHRASES = {column: [(phrase.replace(" ", ""), *key.partition(" ")[::2]) for key, phrases in table.items()
                    for phrase in phrases.split(", ")] for column, table in known.WORDS.items()}
OTHERS = r"\x80-\U0010ffff"  # letters of other scripts
WORD = re.compile(rf"[0-9]+(?![A-Za-z{OTHERS}])|[0-9A-Za-z{OTHERS}]+")
COUNTS = re.compile(rf"[0-9A-Za-z=;{OTHERS}]")


class Words:
    """What the cells of free words of a row say and deny, and what stands behind words."""

    def __init__(self, *cells):
        self.said, self.denied, self.behind, self.unknown = set(), set(), {}, []
        for column, self.text in zip(known.WORDS, cells):
            self.at = 0
            self.places = [match.start() for match in COUNTS.finditer(self.text)]  # of what counts in phrases
            self.squeezed = "".join(self.text[place] for place in self.places)
            self.squeezed = self.squeezed.lower() if self.squeezed.isascii() else self.squeezed
            self.begin_clause()
            while self.at < len(self.text):
                self.read(column)

    def begin_clause(self):
        self.clause, self.denies = set(), False

    def read(self, column):
        """A phrase, a word that no table has, or a sign."""
        word = WORD.match(self.text, self.at)
        if not word:
            if self.text[self.at] in ";()":
                self.begin_clause()
            self.at += 1
            return
        end, role, meanings = max((self.end_of(phrase, self.at), role, meanings) for phrase, role, meanings in PHRASES[column])
        self.at = end or word.end()
        if end:
            self.take(role, meanings.split())
        elif re.search("[^0-9]", word[0]):  # numbers alone belong to the word before them
            self.unknown.append(f'{column}: "{word[0]}"')

    def end_of(self, phrase, at):
        """Where a phrase ends that begins here, or behind what does not count; 0: it does not, or not with a word."""
        first = bisect.bisect_left(self.places, at)
        if not self.squeezed.startswith(phrase, first):
            return 0
        end = self.places[first + len(phrase) - 1] + 1
        return 0 if WORD.match(self.text, end) else end

    def skip(self, pattern):
        """Moves behind what begins here. @return the text of the pattern's group; None: it does not begin here"""
        match = re.compile(pattern).match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match and match[1]

    def take(self, role, meanings):
        if role == "before":
            self.denies = True
        elif role == "behind":
            self.said -= self.clause
            self.denied |= self.clause
        elif role == "key":
            self.skip(r"[ =]*([0-9]+)")
        elif role == "rest":
            self.say(meanings, True, self.skip(r"[ =]*([^;]*)"))
        elif role == "says":
            number = self.skip(r"[ =]*([0-9]+)") if known.NUMBERED & set(meanings) else None
            self.say(meanings, True if number else self.value(), number)

    def value(self):
        """The effect of "=value" or ": value" on the phrase before it: true, false, or None where the value is words of its own
        and the phrase says nothing."""
        sign = re.compile(" *[=:] *").match(self.text, self.at)
        if not sign:
            return not self.denies
        for value in known.YES + known.NO:
            if end := self.end_of(value, sign.end()):
                self.at = end
                return value in known.YES
        return None if self.text[sign.end():] and self.text[sign.end()] != ";" else False

    def say(self, meanings, yes, behind):
        for meaning in meanings if yes is not None else ():
            (self.said if yes else self.denied).add(meaning)
            (self.clause.add if yes else self.clause.discard)(meaning)
            self.behind.update({meaning: behind} if behind else {})

    def number(self, meaning):
        """The number behind a word; 0: none."""
        return leading_whole(self.behind.get(meaning, ""))


words_of = functools.lru_cache(None)(Words)


# ---- A run -----------------------------------------------------------------------------------------------------------------


def source_of(row):
    """Name of the group, traits of its software, and why its rows are not predicted."""
    models = known.MIXTURES_ONLY if row.num_experts > 1 else known.DENSE_ONLY
    for start, part, only, name, does, *reason in known.SOURCES:
        if row.id.startswith(start) and part in row.id and only in (known.BOTH, models):
            return name, does, "".join(reason)
    return known.OTHER, *first(known.UNKNOWN, row, ""), ""


def network_of(row):
    """Bandwidth of a processor to other nodes, as printed [bytes/s]: "8x HDR IB 200 Gbps per node", "4 x 100 Gb/s", "400 Gb/s
    per GPU"; 0: no rate is."""
    text = row.inter_node_net
    rate = re.match(r".*?([0-9.]*)\s*Gb/s", text, re.S) or re.match(r".*?([0-9.]*)\s*Gbps", text, re.S)
    gbit = leading_number(rate[1]) if rate else 0
    sharing = 1 if "per GPU" in text else or_blank(row.gpus_per_node, 0)
    links = (leading_number(number) for number in re.findall(r"([0-9.]*)\s*x(?![0-9A-Za-z])", text))
    return next((n for n in links if n > 0), 1) * gbit / sharing * 1e9 / 8 if gbit > 0 and sharing > 0 else 0


class Run:
    """A row, and what is made of it: `fields` of calc, what is `assumed`, the time of a step."""

    def __init__(self, row):
        self.row = row
        self.source, self.traits, self.reason = source_of(row)
        self.system, self.family = self.first(known.MACHINES)
        self.words = words_of(*(getattr(row, column) for column in known.WORDS))
        self.said = self.words.said | {word for ids, word in known.SAID_BY_ID.items() if fnmatch.fnmatchcase(row.id, ids)}
        self.fields = SimpleNamespace(**dict.fromkeys(FIELDS, 0))  # 0, False and "": as if absent
        self.assumed, self.procs, self.search, self.step_s = [], 0, False, math.nan

    def first(self, table):
        return first(table, self.row, self.source)

    def assume(self, text):
        if text not in self.assumed:
            self.assumed.append(text)

    def does(self, trait, applies=True):
        """Whether the software does something; if so and `applies`, that is an assumption."""
        if trait in self.traits and applies:
            self.assume(known.TRAITS[trait])
        assert trait in known.TRAITS
        return trait in self.traits

    def says_or_does(self, word, trait, applies=True):
        """What the words say; where they say nothing, what the software does."""
        return self.says(word) if word in self.said | self.words.denied else self.does(trait, applies)

    def says(self, word):
        """What is both stated and denied counts as denied."""
        return word in self.said and word not in self.words.denied

    def argument(self, name):
        """What follows an option of the command line, to its end; None: it is not given."""
        match = re.search(rf"(?:^| )--{re.escape(name)}(?: (.*)|\Z)", self.row.arguments, re.S)
        return (match[1] or "") if match else None

    def given(self, name):
        return self.argument(name) is not None

    def number(self, name, blank=0):
        return leading_whole(self.argument(name)) if self.given(name) else blank

    def argument_starts(self, name, start):
        return (self.argument(name) or "").startswith(start)


# ---- The model: its columns, or known properties of its family where a column is blank --------------------------------------


def fill_sizes_of_model(run):
    row, f = run.row, run.fields
    if math.isnan(row.ffn):
        run.assume("feed-forward width not printed: 4 times the hidden width")
    f.hidden, f.seq_size, f.num_blocks = whole(row.hidden), whole(row.seq), whole(row.layers)
    f.feedforward = whole(or_blank(row.ffn, 4 * row.hidden))
    if row.vocab > 0:
        f.vocab_size = whole(row.vocab)
    else:
        run.assume("vocabulary not printed: that of the model's family")
        f.vocab_size, = run.first(known.VOCABULARIES)


def fill_attention(run):
    row, f = run.row, run.fields
    f.attn_heads = whole(row.heads)
    f.attn_size = whole(or_blank(row.head_dim, row.hidden / row.heads))
    f.kv_heads = whole(or_blank(row.kv_heads, row.heads))
    f.causal = True
    f.qk_norm = contains(row.model_notes, "qk-norm")
    latent, = run.first(known.HAS_LATENT)
    if row.mla == 1 and run.source != "ascend_msllm" or latent:
        vars(f).update({name: width for name, (width, _) in known.LATENT.items()})
    f.window_size, f.global_every = run.first(known.WINDOWS)


def fill_experts(run):
    row, f = run.row, run.fields
    if not row.num_experts > 1:  # a single expert is a dense block
        return
    f.dense_blocks, shared = run.first(known.MIXTURES)
    f.num_experts = whole(row.num_experts)
    f.experts_per_token = whole(or_blank(row.topk, 0))
    f.expert_feedforward = whole(row.moe_ffn) if row.moe_ffn > 0 else f.feedforward
    f.shared_feedforward = shared * f.expert_feedforward


def choice(yes):
    return "true" if yes else "false"


def fill_structure(run):
    notes, f = run.row.model_notes, run.fields
    gated, = run.first(known.GATED)
    f.ffn_type = "swiglu" if gated else "gelu"
    f.norm_type = "rms" if contains(notes, "rmsnorm") else "layer"
    f.position_type = "rope" if gated else "learned"
    f.bias = choice(contains(notes, "biases") or contains(notes, "bias=yes"))
    f.dropout = choice(run.does("dropout"))
    f.tied_embeddings = choice(contains(notes, "tied") and not contains(notes, "untied"))


# ---- What was measured -----------------------------------------------------------------------------------------------------


def measure_step(run):
    """The time of a step from the printed quantity: the time itself, tokens per second, or FLOP per second with the FLOP that
    the publication counts."""
    row = run.row
    if row.measured_iteration_s > 0:
        run.step_s = row.measured_iteration_s
    elif row.measured_tokens_per_s_per_gpu > 0:
        run.step_s = row.global_batch * row.seq / (row.measured_tokens_per_s_per_gpu * row.num_gpus)
    elif row.measured_tflops_per_gpu > 0 and run.source in known.CONVENTIONS:
        flop, assumption = known.CONVENTIONS[run.source]
        run.step_s = flop(row) / (row.measured_tflops_per_gpu * 1e12 * row.num_gpus)
        run.assume(assumption)


def score_share(f):
    """Mean share of a sequence that a token attends to."""
    seq, window = f.seq_size, f.window_size
    everything = (seq + 1) / (2 * seq)
    if window <= 0 or window >= seq:
        return everything
    part = window / seq * (1 - window / (2 * seq))
    share = f.num_blocks // f.global_every / f.num_blocks if f.global_every > 0 else 0
    return share * everything + (1 - share) * part


def step_flop(f, square):
    """FLOP of a step in matrices and in attention, in its whole square or in the part that tokens see."""
    latent = f.kv_lora_rank > 0
    qk_size = f.qk_nope_size + f.qk_rope_size if latent else f.attn_size
    v_size = f.v_size or f.attn_size
    query, output = f.attn_heads * qk_size, f.attn_heads * v_size
    if latent:
        attention = f.hidden * (f.q_lora_rank + f.kv_lora_rank + f.qk_rope_size) + (f.q_lora_rank or f.hidden) * query \
            + f.kv_lora_rank * f.attn_heads * (f.qk_nope_size + v_size) + output * f.hidden
    else:
        attention = f.hidden * (query + (f.kv_heads or f.attn_heads) * (qk_size + v_size)) + output * f.hidden
    matrices = 3 if f.ffn_type == "swiglu" else 2
    moe = f.num_blocks - f.dense_blocks if f.num_experts > 0 else 0
    experts = matrices * f.hidden * (f.shared_feedforward + f.expert_feedforward * f.experts_per_token) \
        + f.hidden * f.num_experts
    padding = (f.vocab_multiple or 128) * f.tensor_par
    vocab = math.ceil(f.vocab_size / padding) * padding
    used = f.num_blocks * attention + (f.num_blocks - moe) * matrices * f.hidden * f.feedforward + moe * experts \
        + f.hidden * vocab
    share = 1 if square else score_share(f)
    mixing = float(f.num_blocks) * 2 * f.attn_heads * f.seq_size * f.seq_size * (qk_size + v_size) * share
    return f.batch_size * (2.0 * f.seq_size * used + mixing) * 3


def measure_rate(run):
    """The time of a step from a rate of FLOP, as `tflops_counting` says FLOP are counted: "model" counts matrices and the whole
    square of attention ("causal": half of it); "recompute" and "hardware" also count recomputation."""
    row, counting = run.row, run.row.tflops_counting
    again = contains(counting, "recompute") or contains(counting, "hardware")
    if not again and not contains(counting, "model"):
        if math.isnan(row.measured_memory_gib):
            raise Unpredicted("FLOP/s are printed, but not how they are counted")
        return
    causal = contains(counting, "causal")
    full = run.fields.activation_recompute == "full"
    flop = step_flop(run.fields, not causal) * (4.0 / 3 if again and full else 1)
    run.step_s = flop / (row.measured_tflops_per_gpu * 1e12 * row.num_gpus)
    run.assume("FLOP of matrices and of half of the square of attention" if causal
               else "FLOP of matrices and of the square of attention")


# ---- The layout ------------------------------------------------------------------------------------------------------------


def fill_sizes(run):
    row, f = run.row, run.fields
    run.procs = whole(row.num_gpus)
    f.tensor_par, f.pipeline_par, f.context_par = size_of(row.tp), size_of(row.pp), size_of(row.cp)
    model = f.tensor_par * f.pipeline_par * f.context_par
    if run.procs % model != 0:
        raise Unpredicted("the parallel sizes do not divide the number of GPUs")
    f.data_par = run.procs // model
    if row.dp > 0 and whole(row.dp) != f.data_par:
        run.assume("data parallelism from the number of GPUs, not as printed")
    f.expert_par = size_of(row.ep)
    if run.does("spread_experts"):
        f.expert_par = min(run.procs, f.num_experts)
    split = math.isnan(row.etp) and run.does("split_experts")
    f.expert_tensor_par = f.tensor_par if split else size_of(row.etp)
    f.rank_order = "tp-cp-ep-dp-pp"


def fill_batch(run):
    row, f = run.row, run.fields
    f.microbatch_size = size_of(row.micro_batch)
    if not row.micro_batch > 0:
        if run.does("microbatch_per_stage"):
            f.microbatch_size = size_of(row.global_batch / (f.data_par * f.pipeline_par))
        else:
            run.search = run.does("microbatch_search")
            if not run.search and not run.does("microbatch_1"):
                raise Unpredicted("micro-batch not published")
    together, batch = f.data_par * f.microbatch_size, whole(row.global_batch)
    if batch < together:
        raise Unpredicted("global batch smaller than data parallelism times micro-batch")
    f.batch_size = -(-batch // together) * together
    if f.batch_size != batch:
        run.assume("batch rounded up to whole micro-batches, measured time with it")
        run.step_s *= f.batch_size / batch


def fill_formats(run):
    f, said = run.fields, run.said
    f.datatype = "float16" if "float16" in said else "bfloat16"
    f.matrix_datatype = "float4" if "float4" in said else "float8" if "float8" in said else ""
    narrowed = f.matrix_datatype != ""
    if run.does("wide_inputs", narrowed) and narrowed:
        f.activation_datatype = "bfloat16"
    f.attention_datatype = "float8" if run.says("float8_attention") else ""
    block = "block_scales" in said
    f.scaling = "block" if block else "row" if "row_scales" in said else ""
    # Transformer Engine keeps the weights so, torchao gathers them so.
    kept = f.matrix_datatype == "float8" and run.does("float8_blocks" if block else "float8_weights")
    f.weight_datatype = "float8" if kept else ""
    f.param_gather_datatype = "float8" if run.says("float8_gather") else ""


def fill_recompute(run):
    f, said = run.fields, run.said
    f.activation_recompute = "none"
    if run.does("no_recompute"):
        return
    if run.row.recompute == "":
        run.assume("recomputation not printed: none")
    if "full" in said:
        f.activation_recompute = "full"
        blocks = run.words.number("blocks")  # of a stage: "full block 70"
        f.recompute_blocks = 0 if blocks * f.pipeline_par >= f.num_blocks else blocks
        return
    f.recompute_modules = said & set(known.SETS["recompute_modules"])
    f.activation_recompute = "modules" if f.recompute_modules else "none"
    alone = "selective" in said and not f.recompute_modules
    pytorch = alone and run.does("portable_attention")
    if "by_operator" in said or pytorch:
        f.activation_recompute = "selective_op"
    elif alone:
        f.activation_recompute, f.recompute_modules = "modules", {"core_attn"}
        run.assume("selective recomputation, of what is not said: of attention")
    if "offload" in said:
        run.assume("offload of activations not modelled")


def fill_listed_stages(run):
    """Stages of unequal length: the last as listed, the first as near to the list as the others, which are alike, allow."""
    f = run.fields
    listed = re.match(r"([0-9]+,?)*", run.words.behind.get("stage_list", ""))[0]  # "5,6,6"
    blocks = [leading_whole(number) for number in listed.strip(",").split(",") if number]
    if len(blocks) != f.pipeline_par or len(blocks) < 2 or f.pipeline_balance:
        return
    between, middle = f.num_blocks - blocks[0] - blocks[-1], len(blocks) - 2
    f.first_stage_blocks = blocks[0] + (between % middle if middle > 0 and between > 0 else 0)
    f.last_stage_blocks = blocks[-1]
    if middle > 0:
        run.assume("stages between the first and the last alike, not as listed")


def fill_pipeline(run):
    row, f = run.row, run.fields
    several, interleaved = f.pipeline_par > 1, "interleaved" in run.said
    chunks = max(1, leading_whole(row.vpp))
    eight = run.does("chunks_8", several)
    two = run.does("chunks_2", several and interleaved) and interleaved
    f.pipeline_interleaving = 1 if not several else 8 if eight else 2 if two else chunks
    parts = f.pipeline_par * chunks
    even = f.num_blocks % parts == 0
    ends = not even and (f.num_blocks + 2) % parts == 0
    if several and run.does("cost_balanced"):
        f.pipeline_balance = "free"
    elif several and (run.does("balanced_ends") or ends):
        f.pipeline_balance = "ends"
        run.assume(known.TRAITS["balanced_ends"])
    elif several and not even:
        f.pipeline_balance = "free"
        run.assume("blocks per stage not printed: as equal as can be")
    fill_listed_stages(run)
    if several and run.says("deferred_wgrad"):
        f.deferred_head_wgrad = run.words.number("deferred_wgrad") or -1
    # Interleaving that is only assumed does not vouch for the overlap that goes with it.
    f.pipeline_par_overlap = several and chunks > 1 and not run.does("no_message_overlap")


def fill_tensor_par(run):
    f = run.fields
    several = f.tensor_par > 1
    scatter = several and run.row.sequence_parallel == 1
    f.tensor_par_comm_type = "rs_ag" if scatter else "p2p_rs_ag"
    f.tensor_par_overlap = "none"
    again = not run.does("kept_gathers", scatter)
    f.seq_par_ag_redo = scatter and again and f.activation_recompute not in ("full", "selective_op")
    if not several:
        return
    if run.says_or_does("tensor_overlap", "fused_tensor_overlap"):
        f.tensor_par_overlap = "fused"
    elif not run.does("no_tensor_overlap"):
        f.tensor_par_overlap = "async"
        run.assume("tensor-parallel communication asynchronous in backward")


def sharding(run):
    """Weights sharded (3), gradients and optimizer sharded (2), or neither (0)."""
    if run.fields.pipeline_par > 1:
        # PyTorch's stages reduce gradients with the last micro-batch only, and weights stay gathered until then: a distributed
        # optimizer.
        return 0
    if "fully_sharded" in run.said:
        return 3
    return 2 if run.says("sharded_gradients") else 3 if run.says("sharded_weights") else 0


def shard_group(run):
    """Ranks that share one copy of the state; 0: all."""
    group = run.words.number("shard_group")
    return group or int("shard_node" in run.said and or_blank(run.row.gpus_per_node, 0))


def fill_data_par(run):
    f, ranks = run.fields, run.fields.data_par * run.fields.context_par
    stage, replicas = sharding(run), ranks > 1
    distributed = stage > 0 or any(map(run.says, ("sharded_optimizer", "sharded_gradients", "sharded_weights")))
    f.zero_stage = (stage or int(distributed)) if replicas else 0
    f.fsdp_par = group if f.zero_stage > 0 and (group := shard_group(run)) < ranks else 0
    f.optimizer_sharding = f.data_par > 1 and f.zero_stage > 0
    overlaps = run.says_or_does("gradient_overlap", "data_overlap", replicas)
    f.data_par_overlap = replicas and (overlaps or stage > 0)
    if f.zero_stage == 1 and run.does("whole_tensors"):
        f.optimizer_shards = "tensors"
    elif f.zero_stage == 1 and (run.does("summed_gradients") or (run.does("float16_gradients") and f.datatype == "bfloat16")):
        f.optimizer_shards = "summed"
    gather = run.says_or_does("gather_overlap", "data_overlap", replicas)
    f.param_gather_overlap = choice(gather or stage > 0)
    half = run.says_or_does("half_gradients", "half_gradients", replicas)
    half |= run.does("float16_gradients", replicas) and f.datatype == "float16"
    # Gradients are added up in the format they are sent in: Megatron Core allocates their buffer in it, and so does apex's
    # distributed optimizer.
    f.grad_reduce_datatype = f.grad_datatype = f.datatype if half else "float32"
    if run.does("narrow_gradients"):
        f.grad_datatype = f.datatype
    if f.zero_stage >= 3 and run.does("float32_shards"):
        f.weight_datatype = "float32"


def fill_kernels(run):
    row, f = run.row, run.fields
    f.training = True
    f.fused_activation = not run.does("unfused_gate")
    f.memory_model = "megatron"
    f.attention_type = "multi_latent" if f.kv_lora_rank > 0 else "grouped_query" if f.kv_heads < f.attn_heads else "multihead"
    unfused = run.does("unfused_attention")
    f.flash_attention = not unfused and row.flash_attention != 0
    if not unfused and math.isnan(row.flash_attention):
        run.assume("attention kernel not printed: flash attention")
    portable = run.does("portable_attention")
    f.attention_kernel = "generic" if portable or run.does("portable_softmax") else ""
    f.eager = run.does("eager") or (not run.says("compiled") and run.does("eager_unless_compiled"))
    f.unfused_norm, f.unfused_rope = run.does("unfused_norm"), run.does("unfused_rope")
    f.fused_cross_entropy = not (run.does("unfused_loss") or f.eager)
    many = row.num_gpus > 20 * or_blank(row.gpus_per_node, math.inf)
    f.launch_blocking = run.does("launch_blocking", many) and many
    f.cuda_graph = (1 if run.says("full_graph") or run.says("graphs") else 0 if "engine_graphs" not in run.said
                    else GRAPHED_ATTENTION if "attention_graph" in run.said else GRAPHED_ROUTER)
    repeats = f.activation_recompute in ("full", "selective_op") or "mlp" in (f.recompute_modules or ())
    f.recompute_early_stop = run.does("early_stop", repeats) and repeats
    f.unfused_experts = "unfused_experts" in run.said
    f.framework_mem = set()
    if run.does("engine_buffers", not math.isnan(row.measured_memory_gib)):
        f.framework_mem |= {"te_dummy_wgrad", "gemm_workspace"}
    if portable and not f.fused_cross_entropy:  # portable kernels and PyTorch's own loss go together
        f.framework_mem.add("loss_copies")
    if run.does("gathered_logits", f.tensor_par > 1):
        f.framework_mem.add("logits_gathered")
    if run.does("held_logits"):
        f.framework_mem.add("logits_held")  # whose 4 bytes a logit these are


def fill_exchanges(run):
    f, words = run.fields, run.words
    f.context_par_type = "ulysses" if run.says_or_does("ulysses", "ulysses", f.context_par > 1) else ""
    printed = run.says("node_limited")
    assumed = run.row.overlap == "" and run.does("node_limited_dispatch")
    f.dispatch_type = "node_limited" if printed or assumed else ""
    f.fused_experts, f.delayed_wgrad = run.says("fused_experts"), run.says("delayed_wgrad")
    f.expert_par_overlap = "batch" if run.says("expert_overlap") else ""


# ---- Options of Megatron-LM: names and defaults of megatron/training/arguments.py -------------------------------------------


def fill_model_by_options(run):
    f = run.fields
    shares = run.argument("hidden-dropout"), run.argument("attention-dropout")
    f.dropout = choice(any(share is None or leading_number(share) for share in shares))  # 0.1 where no option says otherwise
    f.tied_embeddings = choice("untied=False" in run.row.model_notes)
    f.qk_norm = run.given("qk-layernorm")
    f.vocab_multiple = run.number("make-vocab-size-divisible-by")
    f.mtp_blocks = run.number("mtp-num-layers")
    if f.kv_lora_rank > 0:
        vars(f).update({name: run.number(option, getattr(f, name)) for name, (_, option) in known.LATENT.items()})
    if f.num_experts > 0:
        dense = re.match(r"\(\[0\]\*([0-9]{1,9})", run.argument("moe-layer-freq") or "")  # "([0]*3+[1]*12)": dense, then experts
        f.dense_blocks = int(dense[1]) if dense else 0
        f.shared_feedforward = run.number("moe-shared-expert-intermediate-size")


def fill_pipeline_by_options(run):
    f = run.fields
    if f.pipeline_par > 1 and run.given("decoder-first-pipeline-num-layers"):
        f.first_stage_blocks = run.number("decoder-first-pipeline-num-layers")
        f.last_stage_blocks = run.number("decoder-last-pipeline-num-layers")
        f.pipeline_balance = ""
    if run.given("defer-embedding-wgrad-compute"):
        limit = run.number("wgrad-deferral-limit")
        f.deferred_head_wgrad = limit if limit > 0 else -1


def fill_kernels_by_options(run):
    f = run.fields
    fused = run.given("cross-entropy-loss-fusion")
    f.fused_cross_entropy = fused and run.argument_starts("cross-entropy-fusion-impl", "te")
    f.framework_mem.add("gemm_workspace")
    if fused and not f.fused_cross_entropy:
        f.framework_mem.add("loss_copies")
        run.assume("native fusion of the loss: TorchScript that makes copies")
    if f.num_experts == 0:
        f.expert_tensor_par = 1  # given, but of no effect
    muon = run.argument_starts("optimizer", "muon") or run.argument_starts("optimizer", "dist_muon")
    f.optimizer = "muon" if muon else ""
    # The optimizer's state is split among the ranks of one instance of several.
    instances = run.number("num-distributed-optimizer-instances", 1)
    if instances > 1 and f.zero_stage > 0:
        f.fsdp_par = f.data_par * f.context_par // instances


def fill_offload(run):
    """"--offload-modules [core_attn attn_proj]"."""
    if run.given("fine-grained-activation-offloading"):
        value = re.split("(?:^| )--", run.argument("offload-modules") or "")[0]
        run.fields.offload_modules = modules = set(re.findall(r"[^ \[\]]+", value))
        if not modules or not modules <= set(known.SETS["offload_modules"]):
            raise Unpredicted("offload of a part of a block that is not modelled")


def letters_of(text):
    """Letters and bars of a layout with all multiples written out: "Et*3|(t*4|)*14t*2L" has a letter per embedding, block,
    multi-token prediction and loss, stages between bars (pipeline_parallel_layer_layout.py). "": it is none."""
    letters, at = "", 0
    while at < len(text):
        unit = re.compile(r"(?:\(([^()]*)\)|([Etm|L]))(?:\*(0*[1-9][0-9]{0,2}))?(?!\*)|,").match(text, at)
        if not unit or unit[1] and not letters_of(unit[1]):
            return ""
        letters += (unit[2] or letters_of(unit[1] or "")) * int(unit[3] or 1)
        at = unit.end()
    return letters


def blocks_of_stages(run, letters):
    """The blocks of each stage and chunk; None if they are not a list of blocks with embedding and loss at its ends."""
    f = run.fields
    middle = letters[1:-1]
    if len(letters) < 2 or letters[0] != "E" or letters[-1] != "L" or re.search("[EL]|m.*t", middle):
        return None
    blocks = [stage.count("t") for stage in middle.split("|")]
    apart = re.search(r"m.*\|", middle)  # predictions are on a stage before the loss
    right = (sum(blocks), middle.count("m")) == (f.num_blocks, f.mtp_blocks) and len(blocks) % f.pipeline_par == 0
    return blocks if right and not apart and 0 not in blocks[1:-1] and len(blocks) <= MOST_PLACES else None


def fill_letters(run):
    f = run.fields
    text = (run.argument("pipeline-model-parallel-layout") or "").split(" ")[0].replace("\\", "")  # as the shell leaves it
    if not text:
        return
    blocks = blocks_of_stages(run, letters_of(text))
    runs = [f"{len(list(places))}x{count}" for count, places in itertools.groupby(blocks or [])]
    if not blocks or len(runs) > MOST_RUNS:
        raise Unpredicted("pipeline layout by letters, with parts of the ends as stages")
    f.stages = ",".join(runs)
    f.pipeline_interleaving = len(blocks) // f.pipeline_par
    f.pipeline_balance, f.first_stage_blocks, f.last_stage_blocks = "", 0, 0
    f.pipeline_par_overlap = f.pipeline_interleaving > 1


def apply_options(run):
    if run.row.arguments == "":
        return
    fill_model_by_options(run)
    fill_pipeline_by_options(run)
    fill_kernels_by_options(run)
    if run.given("hybrid-override-pattern") or run.given("hybrid-layer-pattern"):
        raise Unpredicted("hybrid Mamba model")
    if run.argument_starts("optimizer", "muon") and run.given("no-use-layer-wise-param-layout"):
        raise Unpredicted("optimizer by layers without their layout: one rank has the embedding's state")
    fill_offload(run)
    fill_letters(run)


# ---- The whole run ---------------------------------------------------------------------------------------------------------


def check_complete(run):
    row = run.row
    shape = row.layers > 0 and row.hidden > 0 and row.heads > 0 and row.seq > 0
    reason = (run.reason or (not run.system and "no description of this machine")
              or (not shape and "model shape not published, or a hybrid model")
              or ("mamba" in run.said and "hybrid Mamba model")
              or (not row.num_gpus > 0 and "number of GPUs not published")
              or (not row.global_batch > 0 and "global batch not published"))
    if reason:
        raise Unpredicted(reason)


def fill(run):
    check_complete(run)
    for part in (fill_sizes_of_model, fill_attention, fill_experts, fill_structure, measure_step):
        part(run)
    only_rate = math.isnan(run.step_s) and run.row.measured_tflops_per_gpu > 0
    if math.isnan(run.step_s) and math.isnan(run.row.measured_memory_gib) and not only_rate:
        raise Unpredicted("no measured time or memory")
    for part in (fill_sizes, fill_batch, fill_formats, fill_recompute, fill_pipeline, fill_tensor_par, fill_data_par,
                 fill_kernels, fill_exchanges, apply_options):
        part(run)
    if only_rate:
        measure_rate(run)


def run_of(row):
    run = Run(row)
    try:
        fill(run)
    except Unpredicted as reason:
        run.reason = str(reason)
    return run


# ---- Tables ----------------------------------------------------------------------------------------------------------------


def number_of(text, column, least, is_whole, where):
    if text.strip(" ") == "":
        return math.nan
    number = leading_number(text) if re.fullmatch(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *", text) else math.nan
    if not least <= number <= known.MOST or is_whole and number != math.floor(number):
        kind = "a whole number" if is_whole else "a number"
        raise BadTable(f'{where}: {column}: expected {kind} from {least:g} to 1e9, found "{text[:40]}": '
                       "leave it blank if it is not known")
    return number


def row_of(cell, where):
    row = {name: cell[name] for name in known.TEXTS} | {name: cell.get(name, "") for name in known.OPTIONAL}
    row |= {name: number_of(cell[name], name, least, kind is known.WHOLE, where) for kind in (known.WHOLE, known.NUMBERS)
            for least, names in kind.items() for name in names}
    return SimpleNamespace(**row, where=where)


def check_titles(titles, where):
    if missing := [column for column in COLUMNS if column not in titles]:
        raise BadTable(f"{where}: columns are missing: {', '.join(missing)}")
    if twice := [column for column in COLUMNS if titles.count(column) > 1]:
        raise BadTable(f"{where}: columns are there twice: {', '.join(twice)}")


def read_table(name, text):
    """The rows of a table; a row has `where` it starts."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows, titles, start = [], None, 1
    try:
        for cells in reader:
            where, start = f"{name}:{start}", reader.line_num + 1
            if cells and not titles:
                titles = cells
                check_titles(titles, where)
            elif cells and len(cells) != len(titles):
                raise BadTable(f"{where}: {len(cells)} cells, where the first row has {len(titles)}")
            elif cells:
                rows.append(row_of(dict(zip(titles, cells)), where))
    except csv.Error as error:
        raise BadTable(f"{name}:{reader.line_num}: {error}") from None
    if not rows:
        raise BadTable(f"{name}: it has no rows")
    return rows


def read_text(name):
    try:
        data = sys.stdin.buffer.read() if name == "-" else open(name, "rb").read()
        return (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadTable(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def write(name, data):
    if not name:
        sys.stdout.buffer.write(data)
        return
    try:
        with open(name, "wb") as out:
            out.write(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    except OSError as error:
        raise BadTable(f"{name}: {error.strerror}") from None


def memory_counting(text):
    """What a peak of memory counts, and that it is that of the last rank, not of the fullest."""
    allocated = "max_memory_allocated" in text or "mem-max-allocated" in text
    kind = "reserved" if "max_reserved" in text else "allocated" if allocated else ""
    return "+".join(filter(None, [kind, "last_rank" if "last-rank" in text else ""]))


def unmodelled(run):
    """What changes a run, but nothing in calc: options, and how numbers of 8 bits are scaled."""
    given = [(f"--{name}", run.argument(name)) for name in known.UNMODELLED if run.given(name)]
    words = [name if not value or value.startswith("--") else f"{name} {value.split(' ')[0]}" for name, value in given]
    recipes = [run.row.dtype] if any(contains(run.row.dtype, word) for word in known.SCALINGS) else []
    return " ".join(words + recipes)


def cell_of(value):
    return "" if not value else "true" if value is True else value if isinstance(value, str) else number_text(value)


def head_cells(run):
    row = run.row
    first = run.source.split("_")[0]
    publisher = "nvidia" if first in known.NVIDIA else "" if run.source == known.OTHER else first
    ran_out = contains(row.memory_counting, "out of memory")  # what it needed is not known then
    peak = math.nan if ran_out else row.measured_memory_gib
    measured = ["" if math.isnan(number) else number_text(number) for number in (run.step_s, peak)]
    return [row.id, row.source if run.source == known.OTHER else run.source, publisher,
            run.first(known.DATES)[0], row.source.split("(")[0].rstrip(" "),
            run.system, run.family, row.model, known.CONFIDENCES.get((run.source, row.confidence), row.confidence), *measured,
            "" if ran_out else memory_counting(row.memory_counting), "oom" if ran_out else "", run.reason, "" if run.reason else " | ".join(run.assumed), unmodelled(run),
            "" if run.reason else str(run.procs), "" if run.reason else cell_of(network_of(row) / 1e9 * 8)]


def field_cells(run):
    if run.reason:
        return dict.fromkeys(FIELDS, "")
    fields = dict(vars(run.fields))
    assert list(fields) == FIELDS, set(fields) - set(FIELDS)
    for name, members in known.SETS.items():
        fields[name] = "+".join(member for member in members if member in (fields[name] or ()))
    if run.search:  # calc finds them
        fields["microbatch_size"] = fields["pipeline_interleaving"] = ""
    return {name: cell_of(value) for name, value in fields.items()}


def table_of(runs):
    cells = [field_cells(run) for run in runs]
    fields = [name for name in FIELDS if any(row[name] for row in cells)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD + [QUALIFIED.get(name, name) for name in fields])
    writer.writerows(head_cells(run) + [row[name] for name in fields] for run, row in zip(runs, cells))
    return text.getvalue().encode()


COLUMNS = known.TEXTS + sum([*known.WHOLE.values(), *known.NUMBERS.values()], [])
HELP = f"""columns of TABLE, in any order; {", ".join(known.OPTIONAL)} may be there, too, and others are ignored:
{textwrap.fill(" ".join(COLUMNS), 120, initial_indent="  ", subsequent_indent="  ")}

example:
  scripts/make_runs.py tests/measured/published/runs.csv -o tests/measured/runs.csv
  calc validate tests/measured/runs.csv

Words in the columns dtype, zero_stage_fsdp, recompute and overlap that no table knows are named and count as not said.
exit status: 0; 2: the table cannot be read, and one line on standard error says why"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", metavar="TABLE", help='published table, CSV or .gz; "-": standard input')
    parser.add_argument("-o", metavar="OUT.csv", dest="out", help="write here; .gz: compressed (default: standard output)")
    options = parser.parse_args()
    try:
        runs = [run_of(row) for row in read_table(options.table, read_text(options.table))]
        for run in runs:
            for word in run.words.unknown[:1]:
                print(f"make_runs.py: {run.row.where}: {word} is not known, and not read", file=sys.stderr)
        write(options.out, table_of(runs))
    except BadTable as error:
        print(f"make_runs.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
