# FiveBO: fetch, run, collect, figure, claims, report. What the rules need to know is asked of
# common/workflow.py; what they do is the papers' command line (python -m mtbo --help).
import sys

sys.path.insert(0, workflow.basedir)
from fivebo.common import workflow as flow

SCALE = config.get("scale", "quick")
flow.check(SCALE)
shell.prefix(flow.shell_prefix())

workdir: workflow.basedir
onstart: flow.record_owner()
localrules: all, fetch, collect, figure, claims, report
wildcard_constraints:
    scale="|".join(flow.SCALES), paper="|".join(flow.papers()), experiment=flow.NAME,
    figure=flow.FIGURE, block=r"seeds-\d+-\d+", name=r"[\w.-]+/[\w./-]+"

rule all:
    default_target: True
    input: f"figures/{SCALE}/index.html"

for paper in flow.papers():  # `snakemake mtbo` builds one paper
    rule:
        name: paper
        localrule: True
        input: flow.targets(paper, SCALE)

rule fetch:
    output: "data/raw/{name}"
    log: "results/logs/fetch/{name}.log"
    resources: mem_mb=500, runtime=60
    shell: "python -m fivebo.common.lab.datasets fetch {wildcards.name} 2>&1 | tee {log}"

rule airfoils:  # never needed, the table is bundled: XFOIL computes it anew
    output: "data/raw/airfoil/naca4_xfoil_re1e6_alpha4.tsv"
    log: "results/logs/airfoils.log"
    resources: mem_mb=1000, runtime=180
    shell: "python data/derive_airfoil.py 2>&1 | tee {log}"

ruleorder: airfoils > fetch

rule run:
    input: flow.data_files
    output:
        "results/{scale}/{paper}/{experiment}/blocks/{block}.runs.parquet",
        "results/{scale}/{paper}/{experiment}/blocks/{block}.trace.parquet"
    log: "results/{scale}/{paper}/{experiment}/blocks/{block}.log"
    params: code=flow.run_code, settings=flow.run_settings
    resources:
        mem_mb=lambda wildcards: flow.experiment(wildcards).mem_mb,
        runtime=lambda wildcards: flow.experiment(wildcards).runtime_min
    shell:
        "python -m {wildcards.paper} run --experiment {wildcards.experiment}"
        " --scale {wildcards.scale} --block {wildcards.block} --log {log}"

rule collect:
    input: flow.blocks
    output:
        "results/{scale}/{paper}/{experiment}/runs.parquet",
        "results/{scale}/{paper}/{experiment}/trace.parquet"
    log: "results/{scale}/{paper}/{experiment}/collect.log"
    params: origins=flow.origins
    resources: mem_mb=2000, runtime=10
    shell:
        "python -m {wildcards.paper} collect --experiment {wildcards.experiment}"
        " --scale {wildcards.scale} --log {log}"

rule figure:
    input: flow.tables
    output: multiext("figures/{scale}/{paper}/{figure}", ".pdf", ".png", ".csv")
    log: "results/{scale}/{paper}/logs/{figure}.log"
    params: code=flow.figure_code, texts=flow.texts, origins=flow.origins
    resources: mem_mb=2000, runtime=10
    shell:
        "python -m {wildcards.paper} figure {wildcards.figure}"
        " --scale {wildcards.scale} --log {log}"

rule claims:
    input: flow.tables
    output: "figures/{scale}/{paper}/claims.csv"
    log: "results/{scale}/{paper}/logs/claims.log"
    params: code=flow.claims_code, texts=flow.texts, origins=flow.origins
    resources: mem_mb=2000, runtime=10
    shell: "python -m {wildcards.paper} claims --scale {wildcards.scale} --log {log}"

rule report:
    input: flow.report_inputs
    output: "figures/{scale}/index.html", "figures/{scale}/claims.csv"
    log: "results/{scale}/logs/report.log"
    params: code=flow.report_code, texts=flow.texts, origins=flow.origins
    resources: mem_mb=2000, runtime=10
    shell: "python -m fivebo.common.page.report --scale {wildcards.scale} 2>&1 | tee {log}"
