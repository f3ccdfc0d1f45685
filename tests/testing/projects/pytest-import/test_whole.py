def test_whole():
    pass
