check "c" {
  assert {
    condition     = resource.b.state.x && dep.b.state.y && self.state.z
    error_message = local.none
  }
}
# error 3:21 Unknown name
# error 3:43 No dependencies here
# error 3:60 No self here
# error 4:21 Unknown name
