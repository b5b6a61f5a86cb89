"""nbgrader's side: a course folder, the step that grades, and the gradebook."""
