"""Modules that an export carries along: they run inside the trainer, without this package.

`rubrics.exports.modules` puts the text of `lookup` in the place of its import, so that each is one file.
"""
