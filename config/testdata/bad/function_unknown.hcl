locals {
  a = uper("x")
}
# error 2:7 Call to unknown function
