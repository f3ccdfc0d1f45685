#[test]
fn outer() {}

#[test]
fn outer_wrong() {
    panic!("wrong");
}
