"""Refusals of the Sinter plugin, and of command lines."""

from .rows import Row

_NOISE = "X_ERROR(0.1) 0 1 / M 0 1 / DETECTOR rec[-1] / "
_OBSERVED = f"{_NOISE}OBSERVABLE_INCLUDE(0) rec[-2]"
_DECIDED = (
    "X_ERROR(0.1) 0 / M 0 / DETECTOR rec[-1] / DECODE 0 / CX rec[-1] 1 / M 1 / OBSERVABLE_INCLUDE(0) rec[-1]"
)
_DECIDED_S = "X_ERROR(0.1) 0 / M 0 / DETECTOR rec[-1] / RX 1 / DECODE 0 / C_S rec[-1] 1 / MX 1 / OBSERVABLE_INCLUDE(0) rec[-1]"
_STATE = "X_ERROR(0.1) 1 / M 1 / DETECTOR rec[-1] / RX 0 / T 0 / EXP_VAL X0 Y0 / OBSERVABLE_INCLUDE(0) X0 / OBSERVABLE_INCLUDE(1) Y0"
_COLLECT = "sp.collect([task('%s', decoder='soft_pymatching'%s)], num_workers=1, max_shots=64%s)"
_DISTILLATION = "snc.generators.distillation.distillation_circuit(%s, t_error=0.01)"
_ROWS = "file('s.csv', plugin('collect --circuits {} --decoders soft_pymatching --max_shots 64 --processes 1 --quiet --also_print_results_to_stdout', file('d=1.stim', 'TEXT'))%s)".replace(
    "TEXT", _OBSERVED
)

SINTER = [
    Row(f"shots(sp.SoftPostselectSampler(), '{_DECIDED}')", "soft_pymatching", f"shots(sp.SoftDecodingSampler(), '{_DECIDED}')"),
    Row(f"shots(sp.SoftDecodingSampler(), '{_DECIDED}', postselection_mask=np.array([1], dtype=np.uint8))", "circuit.without_decisions()", f"shots(sp.SoftPostselectSampler(), str(c('{_DECIDED}').without_decisions()))"),
    Row(f"shots(sp.SoftDecodingSampler(decoder='desaturated'), '{_DECIDED}')", "soft_pymatching", f"shots(sp.SoftDecodingSampler(), '{_DECIDED}')"),
    Row(f"shots(sp.SoftDecodingSampler(confidence=True), '{_DECIDED_S}')", "Leave confidence out", f"shots(sp.SoftDecodingSampler(), '{_DECIDED_S}')"),
    Row(f"shots(sp.SoftDecodingSampler(), '{_NOISE}')", "OBSERVABLE_INCLUDE", f"shots(sp.SoftDecodingSampler(), '{_OBSERVED}')"),
    Row(f"shots(sp.SoftPostselectSampler(), '{_NOISE}')", "OBSERVABLE_INCLUDE", f"shots(sp.SoftPostselectSampler(), '{_OBSERVED}')"),
    Row("shots(sp.SoftPostselectSampler(), 'X_ERROR(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]')", "DETECTOR", f"shots(sp.SoftPostselectSampler(), '{_OBSERVED}')"),
    Row("shots(sp.SoftDecodingSampler(), 'X_ERROR(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]')", "soft_postselect", f"shots(sp.SoftPostselectSampler(), '{_OBSERVED}')"),
    Row(f"shots(sp.SoftPostselectSampler(), 'X_ERROR(0.1) 2 / M 2 / DETECTOR rec[-1] / {_OBSERVED}', postselection_mask=np.array([1], dtype=np.uint8))", "soft_pymatching", f"shots(sp.SoftPostselectSampler(), '{_OBSERVED}')"),
    Row(f"shots(sp.SoftPostselectSampler(state_check='T', count_observable_error_combos=True), '{_STATE}')", "Leave out state_check or count_observable_error_combos", f"shots(sp.SoftPostselectSampler(state_check='T'), '{_STATE}')"),
    Row(f"shots(sp.SoftDecodingSampler(state_check='T', count_observable_error_combos=True), '{_STATE}')", "count_observable_error_combos", f"shots(sp.SoftDecodingSampler(state_check='T'), '{_STATE}')"),
    Row(f"shots(sp.SoftDecodingSampler(state_check=snc.LogicalStateCheck((0, 1), (), (0.5**0.5, 0.5**0.5))), '{_STATE}')", "OBSERVABLE_INCLUDE", f"shots(sp.SoftDecodingSampler(state_check='T'), '{_STATE}')"),
    Row(f"shots(sp.SoftDecodingSampler(state_check='T_DAG'), '{_STATE}')", "EXP_VAL !Y0", f"shots(sp.SoftPostselectSampler(state_check='T'), '{_STATE}')"),
    Row(f"shots(sp.SoftDecodingSampler(error_model='task'), '{_OBSERVED}', detector_error_model=stim.Circuit('M 0\\nDETECTOR rec[-1]').detector_error_model())", "num_observables", f"shots(sp.SoftDecodingSampler(error_model='noise_only'), '{_OBSERVED}')"),
    Row(f"shots(sp.SoftDecodingSampler(), '{_OBSERVED}'.replace('rec[-2]', 'rec[-2] / OBSERVABLE_INCLUDE(1) rec[-1]')) and shots(sp.SoftDecodingSampler(confidence=True), '{_OBSERVED}'.replace('rec[-2]', 'rec[-2] / OBSERVABLE_INCLUDE(1) rec[-1]'))", "Declare one observable", "shots(sp.SoftDecodingSampler(), memory(before_round_data_depolarization=0.1))"),
    Row("sp.DesaturatedGapDecoder().compile_decoder_for_dem(dem=stim.DetectorErrorModel('error(0.1) D0 L0'))", "sample with soft_pymatching_gap", "shots(sp.SoftDecodingSampler(decoder=sp.MatchingGapDecoder()), memory(before_round_data_depolarization=0.1))"),
    Row("sp.DesaturatedGapDecoder().compile_decoder_for_dem(dem=stim.DetectorErrorModel('detector(0,0,0,0,0) D0\\nerror(0.1) D0'))", "Check that the circuit has noise, and an observable", "shots(sp.SoftDecodingSampler(), memory(before_round_data_depolarization=0.1))"),
    Row("sp.collect([task('M 0', decoder='soft_pymatching')], num_workers=1)", "max_shots, max_errors or max_seconds", _COLLECT % (_OBSERVED, "", "")),
    Row(f"sp.collect([task('{_OBSERVED}')], num_workers=1, max_shots=9)", "in the argument decoders", f"sp.collect([task('{_OBSERVED}')], num_workers=1, max_shots=9, decoders='soft_pymatching')"),
    Row(f"sp.collect([task('{_OBSERVED}')], num_workers=1, max_shots=9, decoders='pymatching')", "reads T gates as S gates", _COLLECT % (_OBSERVED, "", "")),
    Row(f"sp.collect([task('{_OBSERVED}')], num_workers=1, max_shots=9, decoders='pymatchin')", "S gates in place of T gates", _COLLECT % (_OBSERVED, "", "")),
    Row(f"sp.collect([task('{_OBSERVED}')], num_workers=1, max_shots=9, decoders='mine', custom_decoders={{'mine': sp.MatchingGapDecoder}})", "MatchingGapDecoder()", f"sp.collect([task('{_OBSERVED}')], num_workers=1, max_shots=9, decoders='mine', custom_decoders={{'mine': sp.MatchingGapDecoder()}})"),
    Row(f"sp.collect([task('{_OBSERVED}')], num_workers=1, max_shots=9, decoders='pymatching', custom_decoders={{'pymatching': sp.MatchingGapDecoder()}})", "under another name", f"sp.collect([task('{_OBSERVED}')], num_workers=1, max_shots=9, decoders='mine', custom_decoders={{'mine': sp.MatchingGapDecoder()}})"),
    Row(_COLLECT % (_OBSERVED, ", json_metadata={(1, 2): 2}", ""), "Use a string", _COLLECT % (_OBSERVED, ", json_metadata={'1': 2}", "")),
    Row(_COLLECT % (_OBSERVED, ", json_metadata={'a': {1: 2, '1': 3}}", ""), "Rename one", _COLLECT % (_OBSERVED, ", json_metadata={'a': {'1': 2, '2': 3}}", "")),
    Row(_COLLECT % (_OBSERVED, ", json_metadata={'a': float('nan')}", ""), "Write None", _COLLECT % (_OBSERVED, ", json_metadata={'a': None}", "")),
    Row(_COLLECT % (_OBSERVED, ", json_metadata={'a': {1, 2}}", ""), "Use numbers, strings and lists", _COLLECT % (_OBSERVED, ", json_metadata={'a': [1, 2]}", "")),
    Row(_COLLECT % (_OBSERVED, "", ", save_resume_filepath=file('a.csv', ''), existing_data_filepaths=[str(folder / 'a.csv')]"), "Leave it out of existing_data_filepaths", _COLLECT % (_OBSERVED, "", ", save_resume_filepath=file('a.csv', '')")),
    Row(f"sp.SoftDecodingSampler().compiled_sampler_for_task(task('{_OBSERVED}')).sample_range(0, 9)", "compiled_range_sampler_for_task(task, seed=...)", f"sp.SoftDecodingSampler().compiled_range_sampler_for_task(task('{_OBSERVED}'), seed=1).sample_range(0, 9)"),
    Row(f"sp.SoftDecodingSampler().compiled_range_sampler_for_task(task('{_OBSERVED}'), seed=1).sample(9)", "sample_range", f"sp.SoftDecodingSampler().compiled_range_sampler_for_task(task('{_OBSERVED}'), seed=1).sample_range(0, 9)"),
    Row(f"sp.gap_points({_COLLECT % (_OBSERVED, '', '')}[0])", "SoftDecodingSampler(confidence=True)", "sp.gap_points(sp.collect([task(memory(before_round_data_depolarization=0.1))], num_workers=1, max_shots=64, decoders='soft_pymatching_gap')[0])"),
    Row(f"shots(sp.SoftDecodingSampler(error_model='task'), 'R_X(0.5) 2 / {_OBSERVED}', detector_error_model=c('R_X(0.5) 2 / {_OBSERVED}').to_stim().detector_error_model())", 'error_model="s_proxy"', f"shots(sp.SoftDecodingSampler(error_model='noise_only'), 'R_X(0.5) 2 / {_OBSERVED}')"),
    Row("shots(sp.SoftDecodingSampler(decoder='chromobius'), 'HERALDED_ERASE(0.1) 0 / DETECTOR(0,0,0,-1) rec[-1] / M 0 / DETECTOR(0,0,0,0) rec[-1] / OBSERVABLE_INCLUDE(0) rec[-1]')", "Use the decoder pymatching", "shots(sp.SoftDecodingSampler(decoder='pymatching'), 'HERALDED_ERASE(0.1) 0 / DETECTOR rec[-1] / M 0 / DETECTOR rec[-1] / OBSERVABLE_INCLUDE(0) rec[-1]')"),
    Row(f"shots(sp.SoftDecodingSampler(decoder='desaturated', condition_on_postselection=True), '{_OBSERVED}')", "decode with pymatching", f"shots(sp.SoftDecodingSampler(decoder='pymatching', condition_on_postselection=True), '{_OBSERVED}')"),
    Row(f"shots(sp.SoftDecodingSampler(), 'RX 5 / T 5 / MX 5 / DETECTOR rec[-1] / {_OBSERVED}', postselection_mask=np.array([1], dtype=np.uint8))", 'error_model="noise_only"', f"shots(sp.SoftDecodingSampler(error_model='noise_only'), 'RX 5 / T 5 / MX 5 / DETECTOR rec[-1] / {_OBSERVED}', postselection_mask=np.array([1], dtype=np.uint8))"),
    Row(f"shots(sp.SoftDecodingSampler(), 'RX 5 / T 5 / X_ERROR(0.1) 5 / T_DAG 5 / MX 5 / DETECTOR rec[-1] / {_OBSERVED}')", "Postselect", f"shots(sp.SoftDecodingSampler(), 'RX 5 / T 5 / X_ERROR(0.1) 5 / T_DAG 5 / MX 5 / DETECTOR rec[-1] / {_OBSERVED}', postselection_mask=np.array([1], dtype=np.uint8))"),
    Row(f"shots(sp.SoftDecodingSampler(), 'RX 5 / T 5 / Z_ERROR(0.1) 5 / X_ERROR(0.1) 5 / T_DAG 5 / MX 5 / OBSERVABLE_INCLUDE(1) rec[-1] / {_OBSERVED}')", "leave out its measurement", f"shots(sp.SoftDecodingSampler(state_check='T'), '{_STATE}')"),
    Row("sp.MatchingGapDecoder().compile_decoder_for_dem(dem=stim.DetectorErrorModel('error(0.1) D0\\nlogical_observable L0'))", "decode without confidence", "shots(sp.SoftDecodingSampler(), memory(before_round_data_depolarization=0.1))"),
]  # fmt: skip

_COMMAND = (
    "plugin('collect --circuits {} --decoders soft_pymatching --max_shots 64 --processes 1 --quiet %s', file('d=1.stim', '"
    + _OBSERVED
    + "'))"
)
_ESTIMATE = (
    "plugin('estimate --circuits {} --quiet --relative_error 0.1 %s', file('d=1.stim', '" + _OBSERVED + "'))"
)

COMMANDS = [
    Row(_COMMAND % "--max_batch_size 9", "Leave it out", _COMMAND % ""),
    Row(_COMMAND % "--shard 1/2 --seed 1 --max_errors 9", "Leave out --max_errors", _COMMAND % "--shard 1/2 --seed 1 --save_resume_filepath DIR/one.csv"),
    Row(_COMMAND % "--shard 1/2 --seed 1 --dask local", "Leave out --shard or --dask", _COMMAND % "--shard 1/2 --seed 1 --save_resume_filepath DIR/two.csv"),
    Row("plugin('collect --circuits {} --decoders soft_postselect --postselected_detectors_predicate \"index < 0\" --max_shots 9 --processes 1 --quiet', file('d=1.stim', '" + _OBSERVED + "'))", "leave the argument out", "plugin('collect --circuits {} --decoders soft_postselect --max_shots 9 --processes 1 --quiet', file('d=1.stim', '" + _OBSERVED + "'))"),
    Row(_ESTIMATE % "--decoders pymatching --skip_reference_sample", "Leave out --skip_reference_sample", _ESTIMATE % "--decoders pymatching"),
    Row(_ESTIMATE % "--decoders pymatching --state_check T", "Leave out --state_check", _ESTIMATE % "--decoders pymatching"),
    Row(_ESTIMATE % "", "--postselect all", _ESTIMATE % "--postselect all"),
    Row("plugin('estimate --circuits {} --decoders soft_postselect', file('d=1.stim', '" + _NOISE + "'))", "OBSERVABLE_INCLUDE", _ESTIMATE % "--decoders soft_postselect"),
    Row(_ESTIMATE % "--decoders soft_postselect --confidence", "leave out --confidence", _ESTIMATE % "--decoders soft_postselect"),
    Row(_ESTIMATE % "--decoders pymatching --postselected_observables_predicate True", "Postselect detectors only", _ESTIMATE % "--decoders pymatching"),
    Row((_ESTIMATE % "--decoders soft_postselect --state_check T --postselected_observables_predicate True").replace(_OBSERVED, _STATE), "Postselect detectors only", "plugin('estimate --quiet --relative_error 0.1 --circuits {} --decoders soft_postselect --state_check T', file('d=1.stim', 'X_ERROR(0.1) 1 / M 1 / DETECTOR rec[-1] / RX 0 / T 0 / Z_ERROR(0.1) 0 / EXP_VAL X0 Y0'))"),
    Row(_ESTIMATE % "--decoders soft_postselect --error_budget noise", "Use --in, not --circuits", (_ESTIMATE % "--decoders soft_postselect --error_budget noise").replace("--circuits", "--in")),
    Row("plugin('combine {}', file('e.csv', ''))", "Leave it out", f"plugin('combine {{}}', {_ROWS % ''})"),
    Row(f"plugin('combine {{}}', {_ROWS % '[:-1]'})", "Add the newline", f"plugin('combine {{}}', {_ROWS % ''})"),
    Row(f"plugin('combine {{}}', {_ROWS % '[:-20]'})", "delete the line", f"plugin('combine {{}}', {_ROWS % ''})"),
    Row(f"plugin('combine {{}}', {_ROWS % '[:-20] + chr(10)'})", "Correct the line, or delete it", f"plugin('combine {{}}', {_ROWS % ''})"),
    Row(f"plugin('combine {{0}} {{0}}', {_ROWS % ''})", "Leave one", f"plugin('combine {{}}', {_ROWS % ''})"),
    # stim-nonclifford
    Row("command('detect --in {} --shots 64 --obs_out DIR/o --append_observables', file('a.stim', '" + _OBSERVED + "'))", "Leave one of them out", "command('detect --in {} --shots 64 --append_observables', file('a.stim', '" + _OBSERVED + "'))"),
    Row("command('detect --in {} --shots 64 --out_format ptb64 --postselect all', file('a.stim', '" + _OBSERVED + "'))", "Use the format b8", "command('detect --in {} --shots 64 --out_format b8 --out DIR/b --postselect all', file('a.stim', '" + _OBSERVED + "'))"),
    Row("command('detect --in {} --postselect non_zero_4th_coord', file('a.stim', '" + _OBSERVED + "'))", "Use --postselect all", "command('detect --in {} --postselect D0', file('a.stim', '" + _OBSERVED + "'))"),
    Row("command('diagram --in {} --type matchgraph-svg --remove_noise', file('a.stim', '" + _OBSERVED + "'))", "Leave out --remove_noise", "command('diagram --in {} --type matchgraph-svg', file('a.stim', '" + _OBSERVED + "'))"),
    Row("command('page {0} --in {0}', file('a.stim', '" + _OBSERVED + "'))", "Leave out one of them", "command('page {0} --out DIR/p.html', file('a.stim', '" + _OBSERVED + "'))"),
    Row("command('generate cultivation --distance 3 --noise uniform')", "--p 0.001", "command('generate cultivation --distance 3 --noise uniform --p 0.001 --out DIR/c.stim')"),
    Row("command('generate cultivation --distance 3 --noise none --p 0.1')", "leave out --p", "command('generate cultivation --distance 3 --noise none --out DIR/c.stim')"),
    Row("command('generate cultivation --distance 3 --p 0.001 --rounds 3')", "--escape_distance", "command('generate cultivation --distance 3 --p 0.001 --out DIR/c.stim')"),
    Row("command('generate cultivation --distance 3 5 --p 0.001 --out DIR/x')", "--out_dir DIR", "command('generate cultivation --distance 3 5 --p 0.001 --out_dir DIR/x')"),
    Row("command('generate distillation --t_error 0.01 --protocol 3k+8-to-k')", "write --protocol 3k+8-to-k --k 2", "command('generate distillation --t_error 0.01 --protocol 3k+8-to-k --k 2 --out DIR/c.stim')"),
    Row(_DISTILLATION % "'3k+8-to-k', k=5", "Write k=4", _DISTILLATION % "'3k+8-to-k', k=4"),
    Row(_DISTILLATION % "'3k+8-to-k'", "for example k=2", _DISTILLATION % "'3k+8-to-k', k=2"),
    Row(_DISTILLATION % "'15-to-1', k=2", "Leave it out for 15-to-1", _DISTILLATION % "'15-to-1'"),
    Row(_DISTILLATION % "'5-to-1', teleported=False", "Leave out teleported=False", _DISTILLATION % "'5-to-1'"),
    Row(_DISTILLATION % "'5-to-1', gate='S'", "Leave out gate='S'", _DISTILLATION % "'5-to-1'"),
    Row("command('estimate --circuits {} --decoders mine', file('a.stim', '" + _OBSERVED + "'))", "--custom_decoders_module_function MODULE:FUNCTION", "command('estimate --circuits {} --decoders soft_pymatching --custom_decoders_module_function sinter_plugin:sinter_samplers --quiet --relative_error 0.1', file('a.stim', '" + _OBSERVED + "'))"),
    Row("plugin('collect --circuits {} --decoders mine --custom_decoders_module_function {} --state_check T --max_shots 9 --processes 1 --quiet', file('d=1.stim', '" + _STATE + "'), 'tests.support.remedies.own_samplers:samplers')", "Leave out --state_check", "plugin('collect --circuits {} --decoders mine --custom_decoders_module_function {} --max_shots 9 --processes 1 --quiet', file('d=1.stim', '" + _STATE + "'), 'tests.support.remedies.own_samplers:samplers')"),
    Row(_ESTIMATE % "--decoders mine --custom_decoders_module_function tests.support.remedies.own_samplers:samplers", "python -m sinter_plugin collect", _ESTIMATE % "--decoders pymatching"),
    Row(_ESTIMATE % "--decoders postselect --custom_decoders_module_function tests.support.remedies.own_samplers:samplers", "Use soft_postselect", _ESTIMATE % "--decoders soft_postselect"),
    Row(_COMMAND % "--shard 0/2 --seed 1", "$((SLURM_ARRAY_TASK_ID + 1))", _COMMAND % "--shard 1/2 --seed 1 --save_resume_filepath DIR/three.csv"),
]  # fmt: skip
