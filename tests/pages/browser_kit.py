"""A real browser: Chromium, as the machine has it, and what a page is asked in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""What Chromium is called, by whoever packages it."""

PHONE, TABLET, DESKTOP = (390, 844), (768, 1024), (1280, 1080)
"""Sizes of screens, in CSS pixels."""

SLOW = 240_000
"""Milliseconds that one answer of the browser may take on a busy machine."""

PAPER = (688, 1000)
"""What A4 has between its margins, in CSS pixels."""

OPEN_ALL = "() => document.querySelectorAll('details').forEach(one => { one.open = true })"

OUTSIDE = """() => {
  const seen = document.documentElement.clientWidth, found = []
  for (const one of document.body.querySelectorAll('*')) {
    const box = one.getBoundingClientRect(), styled = getComputedStyle(one)
    if (!box.width || one.closest('.skip, .defs, thead')) continue
    const name = one.tagName + '.' + one.className + ': ' + one.textContent.slice(0, 60)
    if (box.right > seen + 0.5 || box.left < -0.5) found.push('outside: ' + name)
    if (one.closest('svg')) continue
    const clipped = styled.overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1
    const high = styled.overflowY !== 'visible' && one.scrollHeight > one.clientHeight + 1
    if (clipped || high) found.push('cut off: ' + name)
  }
  return {width: document.documentElement.scrollWidth, found}
}"""
"""How wide the page is, and the elements that reach out of the screen or hide a part of what is in them."""

TEXTS = """const texts = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = []
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement
    if (!node.data.trim() || parent.closest('svg, style, .skip')) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const boxes = [...range.getClientRects()].filter(box => box.width > 0 && box.height > 0)
    // What a closed fold hides has a place all the same.
    found.push({node, parent, shown: boxes.length > 0 && parent.checkVisibility()})
  }
  return found
}
"""

BROKEN = (
    f"() => {{ {TEXTS}"
    """
  const found = [], joint = /[-/._:?,=&\u2026]/
  for (const {node, parent, shown} of texts()) {
    if (!shown || parent.closest('.long, pre, thead')) continue
    for (const word of node.data.matchAll(/\\S+/g)) {
      const range = document.createRange()
      range.setStart(node, word.index)
      range.setEnd(node, word.index + word[0].length)
      const tops = new Set([...range.getClientRects()].map(box => Math.round(box.top)))
      if (tops.size < 2) continue
      let before = null
      for (let at = word.index; at < word.index + word[0].length; at++) {
        range.setStart(node, at)
        range.setEnd(node, at + 1)
        const top = Math.round(range.getBoundingClientRect().top)
        if (before !== null && top > before + 3 && !joint.test(node.data[at - 1])) found.push(word[0])
        before = top
      }
    }
  }
  return found
}"""
)
"""The words of which a part is on the next line, but for those that are broken after a joint, as a dot."""

CONTRASTS = (
    f"() => {{ {TEXTS}"
    """
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number)
  const light = colour => {
    const [red, green, blue] = numbers(colour).map(part => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const behind = one => {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor, parts = numbers(colour)
      if (parts.length < 4 || parts[3] === 1) return colour
    }
    return 'rgb(255, 255, 255)'
  }
  const found = {}
  for (const {node, parent, shown} of texts()) {
    if (!shown) continue
    const front = getComputedStyle(parent).color, back = behind(parent)
    const [high, low] = [light(front), light(back)].sort((one, other) => other - one)
    const key = front + ' on ' + back
    found[key] = {ratio: (high + 0.05) / (low + 0.05), text: node.data.trim().slice(0, 40)}
  }
  return found
}"""
)
"""The contrast of each pair of colours in which something is written (WCAG 2)."""

HIDDEN = (
    f"() => {{ {TEXTS}"
    """
  return texts().filter(one => !one.shown && !one.parent.closest('nav')).map(one => one.node.data.trim())
}"""
)
"""Texts of the page that nobody sees."""


def chromium() -> str:
    """The path of Chromium. Without it these tests cannot run, and they do not pass either."""
    found = next((path for name in CHROMIUMS if (path := shutil.which(name))), None)
    if found is None:
        raise AssertionError(
            "Chromium is missing, in which pages are looked at: `make chromium` installs it"
            " (Debian: apt-get install chromium)"
        )
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    # A sandbox of its own is refused to root, as in containers; what is opened here is ours.
    own = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=own, timeout=SLOW)
        try:
            yield running
        finally:
            running.close()


@contextmanager
def opened(
    running: Browser, path: Path, size: tuple[int, int], *, dark: bool = False, folds: bool = False
) -> Iterator[Page]:
    """A file on a screen of this size. ``folds``: with every fold open."""
    width, height = size
    context = running.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    context.set_default_timeout(SLOW)
    try:
        page = context.new_page()
        page.goto(path.as_uri(), timeout=SLOW)
        if folds:
            page.evaluate(OPEN_ALL)
        yield page
    finally:
        context.close()


def asked(page: Page, question: str) -> Any:
    """What the page answers to a function of JavaScript."""
    return page.evaluate(question)
