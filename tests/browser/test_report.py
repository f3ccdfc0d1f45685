"""The report as a real browser shows it: what it says, that it runs and fetches nothing of what rollouts hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from report_store import Attempt, make_store
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from rubrics.records.rubrics import Criterion
from rubrics.report.explanation import explanation
from rubrics.report.read import read
from rubrics.report.write import PATCH_LIMIT, write_report
from rubrics.store.store import Store

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--window-size=1280,1000",
)  # fmt: skip
PHONE = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
HOSTILE = "<script>window.ran=1;alert(1)</script></script><!--<script>\u202eevil\u2066&amp;<img src=x onerror=alert(1)>"
ALL_OPEN = """
for (let round = 0; round < 4; round++)
  for (const item of document.querySelectorAll("details")) { if (item.draw) item.draw(); item.open = true; }
"""

Browser = webdriver.Chrome
Open = Callable[..., Browser]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    for needed in (CHROMIUM, DRIVER):
        if not needed.exists():
            pytest.skip(f"no browser to look with: {needed} is absent; apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def sample_report(sample_store: Store) -> Path:
    return write_report(sample_store)


@pytest.fixture
def see(browser: Browser) -> Iterator[Open]:
    """Opens a page; afterwards nothing may have been complained about or asked of any network."""

    def go(page: Path, fragment: str = "") -> Browser:
        browser.get("about:blank")
        log(browser, "performance")
        browser.get(page.as_uri() + fragment)
        return browser

    yield go
    assert log(browser, "browser") == []
    asked = [event["params"]["request"]["url"] for event in events(browser, "Network.requestWillBeSent")]
    assert asked
    assert all(url.startswith(("file:///", "about:")) and url.split("#")[0].endswith(".html") for url in asked), asked


def log(browser: Browser, kind: str) -> list[Any]:
    return list(browser.get_log(kind))  # type: ignore[no-untyped-call]


def events(browser: Browser, method: str) -> list[Any]:
    messages = (json.loads(entry["message"])["message"] for entry in log(browser, "performance"))
    return [message for message in messages if message["method"] == method]


def text(browser: Browser, selector: str) -> str:
    return str(browser.find_element(By.CSS_SELECTOR, selector).get_property("textContent"))


def shown(browser: Browser, selector: str) -> list[str]:
    return [item.text for item in browser.find_elements(By.CSS_SELECTOR, selector) if item.is_displayed()]


def wait_for(browser: Browser, selector: str) -> WebElement:
    found = WebDriverWait(browser, 20).until(lambda _: browser.find_elements(By.CSS_SELECTOR, selector))
    return found[0]


def wait_for_patch(browser: Browser) -> None:
    wait_for(browser, "pre.patch")


def width_beyond(browser: Browser) -> int:
    return int(browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth"))


def test_the_census_counts_every_rollout(see: Open, sample_report: Path, sample_store: Store) -> None:
    browser = see(sample_report)
    counted = sample_store.query("SELECT status, count(*) AS n FROM rewards GROUP BY status").to_pylist()
    census = text(browser, "#census")
    for row in counted:
        assert row["status"] in census
    cells = [int(cell) for cell in shown(browser, "#census > table > tbody td.n")]
    assert sum(cells) == sample_store.count("rollouts") == int(text(browser, "#census tfoot td"))
    for kind in sample_store.query("SELECT DISTINCT kind FROM census").column("kind").to_pylist():
        assert kind in census


def test_the_arithmetic_of_every_rollout_is_that_of_the_tables(
    see: Open, sample_report: Path, sample_store: Store
) -> None:
    browser = see(sample_report)
    browser.execute_script(ALL_OPEN)
    ids = sample_store.query("SELECT rollout_id FROM rewards").column("rollout_id").to_pylist()
    material = read(sample_store, ids)
    drawn = browser.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('details.rollout')].map((item) => "
        "[item.id.slice(8), [...item.querySelectorAll('ol.lines li')].map((line) => line.textContent)]))"
    )
    assert drawn == {row["rollout_id"]: explanation(material, row)["arithmetic"] for row in material.rollouts}


def test_an_opened_rollout_shows_its_criteria_with_their_evidence(
    see: Open, sample_report: Path, sample_store: Store
) -> None:
    row = sample_store.rows("rewards", where="test = 1 AND kept")[0]
    material = read(sample_store, [row["rollout_id"]])
    browser = see(sample_report)
    group = next(
        item for item in browser.find_elements(By.CSS_SELECTOR, "details.group") if row["task_id"] in item.text
    )
    group.find_element(By.CSS_SELECTOR, "summary").click()
    rollout = wait_for(browser, f"[id='rollout-{row['rollout_id']}']")
    rollout.find_element(By.CSS_SELECTOR, "summary").click()
    wait_for(browser, ".body")
    body = rollout.text
    for score in explanation(material, material.rollouts[0])["scores"]:
        for criterion in score["criteria"]:
            assert criterion["id"] in body
            assert all(f"{item['name']} = {item['shown']}" in body for item in criterion["evidence"])
    rollout.find_element(By.CSS_SELECTOR, ".body > details.line > summary").click()
    wait_for_patch(browser)
    assert rollout.find_element(By.CSS_SELECTOR, "pre.patch").text.strip().startswith("diff --git")


def test_the_filter_leaves_what_matches(see: Open, sample_report: Path, sample_store: Store) -> None:
    browser = see(sample_report)
    browser.execute_script("document.querySelectorAll('details.group').forEach((item) => { item.open = true; })")
    WebDriverWait(browser, 20).until(lambda b: len(b.find_elements(By.CSS_SELECTOR, "details.rollout")) >= 32)
    browser.find_element(By.ID, "find").send_keys("status:infra")
    infra = sample_store.rows("rewards", where="status = 'infra'")
    assert len(shown(browser, "details.rollout")) == len(infra) > 0
    assert shown(browser, "#found") == [f"{len(infra)} rollouts in {len({row['group_id'] for row in infra})} groups"]
    browser.find_element(By.ID, "find").clear()
    browser.find_element(By.ID, "find").send_keys("spans run:alpha-1")
    assert len(shown(browser, "details.rollout")) == 1
    browser.find_element(By.ID, "find").clear()
    browser.find_element(By.ID, "find").send_keys("no such thing")
    assert shown(browser, "details.group") == []


def test_a_deep_link_opens_its_rollout(see: Open, sample_report: Path, sample_store: Store) -> None:
    first, *_, wanted = (row["rollout_id"] for row in sample_store.rows("rewards"))
    browser = see(sample_report, f"#rollout-{first}")
    assert first in browser.find_element(By.ID, f"rollout-{first}").text
    browser.execute_script(f"location.hash = '#rollout-{wanted}'")
    assert wanted in wait_for(browser, f"[id='rollout-{wanted}'][open]").text
    assert browser.switch_to.active_element.find_element(By.XPATH, "..").get_attribute("id") == f"rollout-{wanted}"


def test_the_keyboard_alone_opens_a_group(see: Open, sample_report: Path) -> None:
    browser = see(sample_report)
    summary = browser.find_element(By.CSS_SELECTOR, "details.group > summary")
    browser.execute_script("arguments[0].focus()", summary)
    summary.send_keys("\n")
    WebDriverWait(browser, 20).until(lambda b: shown(b, "details.rollout"))


def test_rubrics_show_rule_anchor_and_how_they_fared(see: Open, sample_report: Path, sample_store: Store) -> None:
    browser = see(sample_report)
    browser.find_element(By.CSS_SELECTOR, "details.rubric > summary").click()
    body = browser.find_element(By.CSS_SELECTOR, "details.rubric").text
    rubric = sample_store.rows("rubrics", where="kind = 'solution'")[0]
    for criterion in json.loads(rubric["content"]):
        assert criterion["id"] in body
    assert rubric["rubric_digest"] in body
    assert "studied: passing" in body


def test_nothing_scrolls_sideways_on_a_phone(see: Open, sample_report: Path) -> None:
    browser = see(sample_report)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        assert width_beyond(browser) <= 0
        browser.execute_script(ALL_OPEN)
        wait_for_patch(browser)
        assert width_beyond(browser) <= 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_census_groups_and_distribution_are_there_without_script(see: Open, sample_report: Path) -> None:
    driver = see(sample_report)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page = see(sample_report).find_element(By.TAG_NAME, "body").text
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    for words in ("Census", "sample__spans-8", "8 of 8", "passes from", "switched off"):
        assert words in page


@pytest.fixture(scope="module")
def hostile_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Text that tries to get out, everywhere where text of others can stand."""
    patch = f"--- a/x.html\n+++ b/x.html\n@@ -0,0 +1,2 @@\n+{HOSTILE}\n+\u2028</script><svg onload=alert(2)>\n"
    task = "owner__repo-1" + HOSTILE
    criterion = Criterion("small", HOSTILE, 1, "rule", "1.0", anchor=HOSTILE, fault=HOSTILE, evidence=("files_edited",))
    facts = {"files_edited": [HOSTILE]}
    attempts = [
        Attempt(task, "a" + HOSTILE, "passed", {"solution": (0.5,)}, patch, policy=HOSTILE, facts=facts),
        Attempt(task, "b", "passed", {"solution": (1.0,)}, "+" * (PATCH_LIMIT + 123), exit=("infra", HOSTILE)),
        Attempt(task, "c", "passed", {"solution": (1.0,)}, None),
    ]
    rubrics = {(task, "solution"): (criterion,)}
    store = make_store(tmp_path_factory.mktemp("hostile") / "store", attempts, rubrics, factors=("solution",))
    line = {"stage": "ingest", "subject": "file", "kind": "unreadable", "place": HOSTILE, "detail": HOSTILE, "count": 1}
    with store.writing() as run:
        run.append("census", [line])
    return store


def test_hostile_text_is_shown_as_text_and_runs_nothing(see: Open, hostile_store: Store) -> None:
    browser = see(write_report(hostile_store))
    browser.execute_script(ALL_OPEN)
    wait_for_patch(browser)
    assert browser.execute_script("return window.ran") is None
    assert browser.find_elements(By.CSS_SELECTOR, "body img, body svg[onload], body script:not(body > script)") == []
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 3
    visible = HOSTILE.replace("\u202e", "\\u202e").replace("\u2066", "\\u2066")
    for selector in ("#census", "#groups details.group > summary", "pre.patch", ".verdicts", "dl.facts", "#rubrics"):
        assert visible in text(browser, selector), selector
    assert not any(character in text(browser, "body") for character in "\u202e\u2066\u2028")


def test_a_long_patch_says_how_much_is_left_out(see: Open, hostile_store: Store) -> None:
    browser = see(write_report(hostile_store))
    browser.execute_script(ALL_OPEN)
    wait_for_patch(browser)
    assert "The last 123 characters of this patch are left out here." in text(browser, "#groups")


def test_an_empty_store_has_a_report_too(see: Open, tmp_path: Path) -> None:
    browser = see(write_report(Store.create(tmp_path / "empty")))
    assert "The store holds no rubric." in text(browser, "#rubrics")
