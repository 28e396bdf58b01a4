# error 4:31 twice the same key

locals {
  a = { for x in ["a", "a"] : x => 1 }
}
