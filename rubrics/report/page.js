"use strict";
// Draws rollouts and rubrics when they are opened. Text of rollouts only ever becomes text nodes. See pack.py.
(() => {
  const { texts, shapes, rubrics, groups } = JSON.parse(document.getElementById("data").textContent);
  const say = (place) => (place < 0 ? "" : texts[place]);
  const three = (value) => (value === null || value === undefined ? "-" : value.toFixed(3));
  const exact = (value) => (value === null || value === undefined ? "-" : String(value));

  // An element with a class and children: elements, or strings that become text.
  const make = (tag, kind, ...children) => {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  };
  const labelled = (label, ...children) => {
    const element = make("span", "n", ...children);
    element.dataset.label = label;
    return element;
  };
  const table = (kind, heads, rows) => {
    const head = make("tr", "", ...heads.map((text) => make("th", "", text)));
    for (const cell of head.children) cell.scope = "col";
    return make("table", kind, make("thead", "", head), make("tbody", "", ...rows));
  };
  const cell = (label, kind, ...children) => {
    const element = make("td", kind, ...children);
    if (label) element.dataset.label = label;
    return element;
  };
  const folded = (title, draw) => {
    const element = make("details", "line", make("summary", "", title));
    onOpen(element, () => element.append(draw()));
    return element;
  };
  // Draw once, when the element is first opened.
  const onOpen = (element, draw) => {
    element.draw = () => {
      if (!element.drawn) draw();
      element.drawn = true;
    };
    element.addEventListener("toggle", () => element.open && element.draw());
  };
  const openNow = (element) => {
    element.draw();
    element.open = true;
  };

  const criterionOf = ([id, text, method, rule, guidance, anchor, fault, weight, gate, fared]) => ({
    id: say(id), text: say(text), method: say(method), rule: say(rule), guidance: say(guidance), anchor: say(anchor),
    fault: say(fault), weight, gate, fared: say(fared),
  });
  const rubricOf = (place) => {
    const [digest, task, kind, author, note, studied, total, criteria] = rubrics[place];
    return {
      digest: say(digest), task: say(task), kind: say(kind), author: say(author), note: say(note), studied, total,
      criteria: criteria.map(criterionOf),
    };
  };
  const rolloutOf = (row) => {
    const [id, run, policy, step, attempt, status, why, studied, copy, numbers, outcome, sources, scores, lines, patch,
      left, hack, findings, environment, own] = row;
    const [test, solution, behavior, reward, advantage] = numbers;
    return {
      id: say(id), run: say(run), policy: say(policy), step: say(step), attempt: say(attempt), status: say(status),
      why: say(why), studied, copy: say(copy), test, solution, behavior, reward, advantage, outcome: outcome.map(say),
      sources: sources.map(say), scores, lines: lines.map(say), patch, left,
      hack: say(hack), findings: findings.map((finding) => finding.map(say)), environment: say(environment), own: say(own),
    };
  };

  const aboutCriterion = (criterion) => [
    criterion.text,
    make("span", "small", make("code", "", criterion.id), criterion.gate ? " gate: below 1 the score is 0" : ""),
    criterion.fault ? make("span", "small", "fault: " + criterion.fault) : null,
    criterion.anchor ? make("span", "small", "anchor: " + criterion.anchor) : null,
  ];

  const sayMeasured = (value) => {
    if (value === null) return "unknown";
    return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
  };

  const drawVerdicts = (rubric, [, , , values, evidence, failures]) =>
    table("verdicts", ["value", "weight", "criterion", "reason and evidence"], rubric.criteria.map((criterion, i) => {
      const [shape, ...measured] = evidence[i];
      const [reason, ...names] = shapes[shape];
      const pointers = names.map((name, k) => make("span", "small evidence", name, measured[k] === "" ? "" : " = ",
        make("b", "", sayMeasured(measured[k]))));
      const value = values[i] === null ? "none: " + say(failures[i]) : three(values[i]);
      return make("tr", "",
        cell("value", values[i] === null || values[i] < 0.5 ? "low" : "", value),
        cell("weight", "", criterion.weight),
        cell("", "wide", ...aboutCriterion(criterion)),
        cell("", "wide", make("code", "", reason || criterion.rule), ...pointers));
    }));

  // The same words as arithmetic.score_line.
  const scoreLine = (score) => {
    const [place, line, total, values] = score;
    if (line >= 0) return say(line);
    const rubric = rubricOf(place);
    const terms = rubric.criteria.map((criterion, i) => criterion.weight + " x " + values[i]).join(" + ");
    return `${rubric.kind} = (${terms}) / ${rubric.total} = ${total}`;
  };

  const linesOf = (text) => text.replace(/\n$/, "").split("\n");

  // Patches are unpacked together, when the first is opened.
  let unpacked = null;
  const unpack = async () => {
    const packed = atob(document.getElementById("patches").textContent);
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  const patchBox = (rollout) => {
    const box = make("div", "", "Unpacking ...");
    unpacked = unpacked || unpack();
    unpacked.then((patches) => box.replaceChildren(...drawPatch(rollout, patches[rollout.patch])))
      .catch((error) => box.replaceChildren(`This browser cannot unpack patches (${error.message}); use a current one.`));
    return box;
  };

  const drawPatch = (rollout, patch) => {
    if (!patch.trim()) return ["Changes nothing."];
    let inside = false;
    const kindOf = (line) => {
      if (line.startsWith("@@")) inside = true;
      else if (line.startsWith("diff ")) inside = false;
      if (!inside) return "head";
      return { "@": "at", "+": "plus", "-": "minus" }[line[0]] || "";
    };
    const lines = linesOf(patch).map((line) => make("span", kindOf(line), line));
    const parts = [make("pre", "patch", ...lines)];
    if (rollout.left) {
      parts.push(make("p", "", `The last ${rollout.left} characters of this patch are left out here. `
        + `The whole: rubrics query "SELECT patch FROM rollouts WHERE rollout_id = '${rollout.id}'"`));
    }
    return parts;
  };

  const drawSources = (rollout) => {
    const rows = [];
    for (let k = 0; k < rollout.sources.length; k += 3) {
      const [source, outcome, detail] = rollout.sources.slice(k, k + 3);
      rows.push(make("tr", "", make("td", "", outcome), make("td", "", source, detail ? ` (${detail})` : ""),
        make("td", "", source === rollout.outcome[1] ? "counts" : "")));
    }
    return rows.length ? table("", ["outcome", "source", ""], rows) : null;
  };

  const drawFindings = (rollout) => {
    const rows = rollout.findings.map(([verdict, kind, source, rejectedBy, reason, ...pointers]) => make("tr", "",
      cell("", verdict === "confirmed" ? "low" : "", verdict),
      cell("", "", kind, make("span", "small", source, rejectedBy ? `, rejected by ${rejectedBy}` : "")),
      cell("", "wide", reason, ...pointers.map((pointer) => make("span", "small evidence", pointer)))));
    return rows.length ? table("verdicts", ["verdict", "pattern", "reason and evidence"], rows) : null;
  };

  const definitions = (pairs) => make("dl", "facts", ...pairs.filter(([, value]) => value)
    .flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));

  const drawRollout = (rollout) => {
    const [outcome, , why, doubt] = rollout.outcome;
    const link = make("a", "", rollout.id);
    link.href = "#rollout-" + rollout.id;
    const parts = [
      definitions([
        ["rollout", link], ["own id", rollout.own], ["policy", rollout.policy + (rollout.step ? `, policy step ${rollout.step}` : "")],
        ["attempt", rollout.attempt], ["studied", rollout.studied ? "yes: the rubrics rest on this attempt too" : "no"],
        ["repeats", rollout.copy], ["why not ok", rollout.why],
      ]),
      make("h4", "", "Arithmetic"),
      make("ol", "lines", ...[...rollout.scores.map(scoreLine), ...rollout.lines].map((line) => make("li", "", line))),
      make("h4", "", `Outcome: ${outcome}`),
      make("p", "", why + "."),
      doubt ? make("p", "low", doubt + "; run `rubrics reward`") : null,
      drawSources(rollout),
    ];
    for (const score of rollout.scores.filter(([place, , , values]) => place >= 0 && values.length)) {
      const rubric = rubricOf(score[0]);
      parts.push(make("h4", "", `${rubric.kind === "solution" ? "Solution" : "Behavior"}: ${exact(score[2])}`),
        make("p", "small", rubric.note), drawVerdicts(rubric, score));
    }
    parts.push(make("h4", "", `Audit: ${rollout.hack || "none has looked"}`), drawFindings(rollout),
      make("h4", "", "Environment"), make("p", "", rollout.environment));
    parts.push(make("h4", "", "Patch"));
    if (rollout.patch < 0) parts.push(make("p", "", "Not known."));
    else parts.push(folded("Show the patch", () => patchBox(rollout)));
    return make("div", "body", ...parts.filter(Boolean));
  };

  const rolloutElement = (rollout) => {
    const attempt = rollout.attempt === "0" ? "" : ` attempt ${rollout.attempt}`;
    const good = rollout.status === "ok" ? "good" : "other";
    const name = make("span", "name", rollout.run + attempt, make("span", "dim", " " + rollout.policy));
    const numbers = ["test", "solution", "behavior", "reward", "advantage"].map((field) =>
      labelled(field, field === "test" ? exact(rollout[field]) : three(rollout[field])));
    const element = make("details", "rollout",
      make("summary", "", name, make("span", "status " + good, rollout.status), ...numbers));
    element.id = "rollout-" + rollout.id;
    onOpen(element, () => element.append(drawRollout(rollout)));
    return element;
  };

  const groupElements = [...document.querySelectorAll("details.group")];
  const tasks = groupElements.map((element) => element.querySelector(".name").textContent);
  let words = [];
  const haystack = (group, row) => [`task:${tasks[group]}`, `run:${say(row[1])}`, `policy:${say(row[2])}`,
    `status:${say(row[5])}`, say(row[0]), say(row[6]), say(row[19])].join(" ").toLowerCase();
  const matches = (group, row) => {
    const text = haystack(group, row);
    return words.every((word) => text.includes(word));
  };
  const hideOthers = (element, group) => {
    const shown = element.querySelectorAll(":scope > .rollouts > details.rollout");
    shown.forEach((item, i) => { item.hidden = !matches(group, groups[group][i]); });
  };
  groupElements.forEach((element, group) => onOpen(element, () => {
    const titles = ["run, policy", "status", "test", "solution", "behavior", "reward", "advantage"];
    const head = make("div", "rollout-head", ...titles.map((text, i) => make("span", i > 1 ? "n" : "", text)));
    head.setAttribute("aria-hidden", "true");
    element.querySelector(".rollouts").append(head, ...groups[group].map((row) => rolloutElement(rolloutOf(row))));
    hideOthers(element, group);
  }));

  document.querySelectorAll("details.rubric").forEach((element) => onOpen(element, () => {
    const rubric = rubricOf(Number(element.dataset.rubric));
    const rows = rubric.criteria.map((criterion) => make("tr", "",
      cell("weight", "", criterion.weight), cell("method", "", criterion.method),
      cell("", "wide", ...aboutCriterion(criterion)),
      cell("", "wide", make("code", "", criterion.rule || criterion.guidance),
        criterion.fared ? make("span", "small", "mean value, " + criterion.fared) : null)));
    element.querySelector(".criteria").append(
      definitions([["digest", rubric.digest], ["studied", `${rubric.studied} attempts`], ["note", rubric.note]]),
      table("verdicts", ["weight", "method", "criterion", "rule, and how it fared"], rows));
  }));

  const find = document.getElementById("find");
  const filter = () => {
    words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let rollouts = 0;
    let kept = 0;
    groupElements.forEach((element, group) => {
      const found = groups[group].filter((row) => matches(group, row)).length;
      element.hidden = found === 0;
      const all = groups[group].length;
      element.querySelector(".matching").textContent = found && found < all ? `${found} of ${all} match` : "";
      if (element.drawn) hideOthers(element, group);
      rollouts += found;
      kept += found > 0;
    });
    document.getElementById("found").textContent = words.length ? `${rollouts} rollouts in ${kept} groups` : "";
  };
  find.addEventListener("input", filter);
  document.getElementById("filter").hidden = false;

  const follow = () => {
    let wanted = location.hash.slice(1);
    try { wanted = decodeURIComponent(wanted); } catch { return; }
    if (wanted.startsWith("rollout-")) {
      const group = groups.findIndex((rows) => rows.some((row) => "rollout-" + say(row[0]) === wanted));
      if (group < 0) return;
      if (groupElements[group].hidden) { find.value = ""; filter(); }
      openNow(groupElements[group]);
    }
    const element = document.getElementById(wanted);
    if (element && element.draw) openNow(element);
    if (element) {
      element.hidden = false;
      element.scrollIntoView();
      if (element.tagName === "DETAILS") element.querySelector("summary").focus({ preventScroll: true });
    }
  };
  window.addEventListener("hashchange", follow);
  follow();
})();
