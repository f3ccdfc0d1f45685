"""The projects here are what the real runners ran; pytest collects none of them."""

collect_ignore = ["projects"]
