locals {
  a = 1
}
locals {
  a = 2
}
# error 5:3 Declared twice
