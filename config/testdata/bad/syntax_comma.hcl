# error 4:15 a comma

locals {
  a = { b = 1 c = 2 }
}
