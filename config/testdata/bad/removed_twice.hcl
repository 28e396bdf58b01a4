removed {
  from = resource.a
}
removed {
  from = resource.a
  lifecycle {
    destroy = false
  }
}
# error 5:10 Removed twice
