# error 4:10 nothing follows

locals {
  a = 1 +
}
