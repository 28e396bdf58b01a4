resource "a" {
  type = "x"
  lifecycel {
  }
}
# error 3:3 Unsupported block type
