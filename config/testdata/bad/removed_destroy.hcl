variable "d" {
  default = true
}
removed {
  from = resource.a
  lifecycle {
    destroy = var.d
  }
}
removed {
  from = resource.b
  lifecycle {
    destroy = "never"
  }
}
# error 7:15 Not a constant
# error 13:15 Not a constant
