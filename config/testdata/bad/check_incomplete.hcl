check "c" {
  assert {
    condition = true
  }
  precondition {
  }
}
# error 2:10 Missing required argument
# error 5:3 Unsupported block type
