check "c" {
  assert {
    condition     = true
    error_message = "x"
  }
}
check "c" {
  assert {
    condition     = true
    error_message = "x"
  }
}
# error 7:1 Declared twice
