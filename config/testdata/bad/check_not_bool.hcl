check "c" {
  assert {
    condition     = "maybe"
    error_message = "x"
  }
  assert {
    condition     = [true]
    error_message = { a = 1 }
  }
}
# error 3:21 Wrong type
# error 7:21 Wrong type
# error 8:21 Wrong type
