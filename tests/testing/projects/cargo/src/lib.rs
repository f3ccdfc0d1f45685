/// ```
/// assert_eq!(shop::add(1, 2), 3);
/// ```
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    #[test]
    fn plain() {}

    #[test]
    fn wrong() {
        assert_eq!(super::add(1, 2), 4);
    }

    #[test]
    #[ignore = "not today"]
    fn ignored() {}

    #[test]
    #[should_panic]
    fn panics() {
        panic!("as it should");
    }

    #[test]
    fn prints() {
        println!("test tests::wrong ... ok");
        print!("no line end");
    }
}
