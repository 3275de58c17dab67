//! Scenarios that use only the engine's public API. Each file name states the property that the file tests.

mod a_close_waits_for_no_background_job;
mod a_damaged_store_is_never_served_short;
mod a_database_that_was_put_back_is_what_it_was;
mod a_filter_that_takes_long_holds_up_nobody;
mod a_filtered_query_pages_in_any_order;
mod an_export_is_one_snapshot;
mod another_model_takes_over;
mod common;
mod databases_have_a_limited_number_of_columns;
mod deletions_take_what_they_name;
mod derived_files_are_only_a_cache;
mod every_call_is_answered;
mod exact_words_count;
mod lost_vectors_are_reported;
mod no_vector_of_another_model_is_stored;
mod nothing_acknowledged_is_lost;
mod pages_hold_a_limited_number_of_bytes;
mod pages_show_every_record_once;
mod patches_change_the_record_of_the_moment;
mod readers_see_whole_batches;
mod records_have_keys_of_their_callers;
mod records_without_text_are_never_found;
mod restarts_bring_everything_back;
mod scores_are_canonical;
mod search_is_exact;
mod small_searches_wake_no_thread;
mod the_best_passage_decides;
mod the_change_feed_forgets_what_is_old;
mod the_change_feed_hides_what_a_filter_hides;
#[cfg(target_os = "linux")]
mod the_disk_may_stall_fail_or_lose_power;
mod ties_cost_no_more_than_their_vectors;
mod updates_do_not_pile_up;
mod writes_say_what_they_did;
