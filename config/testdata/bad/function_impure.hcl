locals {
  a = timestamp()
}
# error 2:7 Call to unknown function
