# error 3:1 a deployster block

terraform {
  required_version = ">= 1"
}
