# error 3:9 Invalid multi-line string
locals {
  a = "x
}
