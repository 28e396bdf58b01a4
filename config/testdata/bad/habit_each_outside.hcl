# error 4:11 nothing to repeat

output "a" {
  value = each.key
}
